//! History in object storage, one object for each file. None is written over: the storage itself refuses it.
//!
//! ```text
//!   list a prefix ── GET, some at a time                                        read
//!        │
//!        └─ PUT  If-None-Match: *           fails where another was faster: look again
//!           PUT  If-Match: what was seen    for a damaged run, so that nothing else is replaced
//! ```
//!
//! Endpoint and credentials come from the environment. They are part of no message.

use std::error::Error as Cause;
use std::fmt;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{
    GetOptions, ObjectStore, ObjectStoreScheme, PutMode, RetryConfig, UpdateVersion,
};
use reqwest::Url;
use tokio::runtime::Runtime;
use tokio::time::timeout;

use super::history::{Change, Changed, Files, Listing, RUN_BYTES_MAX, decode};
use crate::error::{Error, Result};

/// Objects that a listing may have. A prefix with more is not one of history alone.
const OBJECTS_MAX: usize = 1 << 20;

/// Requests at a time: what hides the way to the storage, and no storage minds.
const AT_ONCE: usize = 16;

/// How often a request is repeated that the storage could not answer, and until when. One attempt takes half a minute at most.
const REPEATS: usize = 4;
const REPEATED_FOR: Duration = Duration::from_secs(60);

/// How long a listing may take: a thousand pages at half a second each.
const LISTED_FOR: Duration = Duration::from_secs(500);

/// A prefix of a bucket or container.
pub(super) struct Objects {
    storage: PrefixStore<Box<dyn ObjectStore>>,
    runtime: Runtime,
    name: String,
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Objects").field(&self.name).finish()
    }
}

impl Objects {
    /// Opens `s3://BUCKET/PREFIX`, `gs://BUCKET/PREFIX` or `az://CONTAINER/PREFIX`.
    pub(super) fn open(name: &str) -> Result<Self> {
        // What is wrong is not repeated, since it may hold a password.
        let wrong = || {
            Error::usage(
                "object storage is written `s3://BUCKET/PREFIX`, `gs://BUCKET/PREFIX` or `az://CONTAINER/PREFIX`, and nothing \
                 more: credentials come from the environment, see docs/history.md",
            )
        };
        let url = Url::parse(name).map_err(|_| wrong())?;
        let plain = url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        let (scheme, prefix) = ObjectStoreScheme::parse(&url).map_err(|_| wrong())?;
        if !plain {
            return Err(wrong());
        }
        // An error says that a provider is there already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let retry = RetryConfig {
            max_retries: REPEATS,
            retry_timeout: REPEATED_FOR,
            ..RetryConfig::default()
        };
        let storage = match scheme {
            ObjectStoreScheme::AmazonS3 => AmazonS3Builder::from_env()
                .with_url(name)
                .with_retry(retry)
                .build()
                .map(|storage| Box::new(storage) as Box<dyn ObjectStore>),
            ObjectStoreScheme::GoogleCloudStorage => GoogleCloudStorageBuilder::from_env()
                .with_url(name)
                .with_retry(retry)
                .build()
                .map(|storage| Box::new(storage) as _),
            ObjectStoreScheme::MicrosoftAzure => MicrosoftAzureBuilder::from_env()
                .with_url(name)
                .with_retry(retry)
                .build()
                .map(|storage| Box::new(storage) as _),
            _ => return Err(wrong()),
        };
        let name = name.trim_end_matches('/').to_owned();
        let storage = storage.map_err(|error| {
            Error::usage(format!(
                "{}; docs/history.md has what the environment must say",
                reason(&error)
            ))
            .within(&*name)
        })?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Objects { storage: PrefixStore::new(storage, prefix), runtime, name })
    }

    /// What an object holds, of one that is too large to be a run only so much that it is seen to be; and which it is.
    async fn get(
        &self,
        path: &str,
        size: Option<&u64>,
    ) -> Result<(UpdateVersion, Vec<u8>), object_store::Error> {
        let most = RUN_BYTES_MAX as u64;
        let part = size.is_some_and(|size| most < *size).then_some(0..most);
        let options = GetOptions { range: part.map(Into::into), ..GetOptions::default() };
        let got = self.storage.get_opts(&Path::parse(path)?, options).await?;
        let version =
            UpdateVersion { e_tag: got.meta.e_tag.clone(), version: got.meta.version.clone() };
        Ok((version, got.bytes().await?.into()))
    }

    async fn put(&self, listing: &Listing, path: &str, bytes: &[u8]) -> Result<Changed> {
        let put = async {
            let mode = match listing.files.get(path) {
                None => PutMode::Create,
                // Only what is damaged is ever replaced. Another writer may have done so since.
                size => match self.get(path, size).await? {
                    (_, bytes) if decode(&bytes).is_ok() => return Ok(Changed::Raced),
                    (version, _) => PutMode::Update(version),
                },
            };
            let payload = bytes.to_vec().into();
            self.storage.put_opts(&Path::parse(path)?, payload, mode.into()).await?;
            Ok(Changed::Yes)
        };
        match put.await {
            Err(
                object_store::Error::AlreadyExists { .. }
                | object_store::Error::Precondition { .. },
            ) => Ok(Changed::Raced),
            // Somebody removed what was to be replaced; a bucket that is not there is not listed.
            Err(object_store::Error::NotFound { .. }) if listing.files.contains_key(path) => {
                Ok(Changed::Raced)
            }
            put => put.map_err(|error| self.error(path, &error)),
        }
    }

    async fn create(&self, listing: &Listing, files: &[(String, Vec<u8>)]) -> Result<Changed> {
        let puts = files.iter().map(|(path, bytes)| self.put(listing, path, bytes));
        let made: Vec<Changed> = stream::iter(puts).buffered(AT_ONCE).try_collect().await?;
        if made.contains(&Changed::Raced) {
            return Ok(Changed::Raced);
        }
        // Whether the storage keeps its word is asked with the same bytes, which do no harm if it does not.
        if let Some((path, bytes)) = files.first()
            && self.put(listing, path, bytes).await? == Changed::Yes
        {
            return Err(Error::judge(
                "the storage writes over what is there although it was asked not to (`If-None-Match: *`), so that \
                 writers at the same time would lose runs; use storage that heeds it, or a branch",
            )
            .within(&*self.name));
        }
        Ok(Changed::Yes)
    }

    async fn remove(&self, paths: &[String]) -> Result<Changed> {
        let places: Vec<_> = paths.iter().map(|path| Ok(Path::parse(path)?)).collect();
        let mut removed = self.storage.delete_stream(stream::iter(places).boxed());
        while let Some(gone) = removed.next().await {
            match gone {
                Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(self.error("", &error)),
            }
        }
        Ok(Changed::Yes)
    }

    fn error(&self, path: &str, error: &object_store::Error) -> Error {
        let why = reason(error);
        // The library tells apart what a request for one object meets, and nothing of a listing.
        let advice = if why.contains("401 ") || why.contains("403 ") {
            "give credentials by the environment that have the rights listed in docs/history.md"
        } else if why.contains("404 ") {
            "see whether there is such a bucket, and try again where another job removes runs"
        } else {
            "try again; endpoint and credentials come from the environment, see docs/history.md"
        };
        let place = if path.is_empty() { self.name() } else { format!("{}/{path}", self.name) };
        Error::judge(format!("{why}; {advice}")).within(place)
    }
}

impl Files for Objects {
    fn list(&self) -> Result<Listing> {
        let list = async {
            let mut files = Listing::default().files;
            let mut objects = self.storage.list(None);
            while let Some(object) =
                objects.try_next().await.map_err(|error| self.error("", &error))?
            {
                if OBJECTS_MAX <= files.len() {
                    return Err(Error::judge(format!(
                        "it holds more than {OBJECTS_MAX} objects; give history a prefix of its own"
                    ))
                    .within(&*self.name));
                }
                files.insert(object.location.into(), object.size);
            }
            Ok(Listing { state: String::new(), files })
        };
        self.runtime.block_on(async { timeout(LISTED_FOR, list).await }).unwrap_or_else(|_| {
            let seconds = LISTED_FOR.as_secs();
            Err(Error::judge(format!("its listing took more than {seconds} s; try again later"))
                .within(&*self.name))
        })
    }

    fn read(&self, listing: &Listing, paths: &[String]) -> Result<Vec<Vec<u8>>> {
        let gets = paths.iter().map(|path| async move {
            let got = self.get(path, listing.files.get(path)).await;
            got.map(|(_, bytes)| bytes).map_err(|error| self.error(path, &error))
        });
        self.runtime.block_on(stream::iter(gets).buffered(AT_ONCE).try_collect())
    }

    fn change(&self, listing: &Listing, change: &Change) -> Result<Changed> {
        self.runtime.block_on(async {
            match change {
                Change::Create(files) => self.create(listing, files).await,
                Change::Remove(paths) => self.remove(paths).await,
            }
        })
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

/// The innermost cause, in one line. Of a page of XML its code: the rest may repeat what signed the request.
fn reason(error: &object_store::Error) -> String {
    /// Characters that say enough.
    const MOST: usize = 200;
    let mut cause: &dyn Cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let text = cause.to_string();
    let (words, page) = text.split_once('<').unwrap_or((&text, ""));
    let code = page.split_once("Code>").and_then(|(_, rest)| rest.split('<').next());
    let line = [words, code.unwrap_or_default()].concat();
    let line: String = line.chars().filter(|c| !c.is_control()).take(MOST).collect();
    line.trim_end_matches([':', ' ']).to_owned()
}
