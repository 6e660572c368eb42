//! Requests to GitHub, one at a time: with caps, time-outs, a deadline, and a second try only where it can do no harm.
//!
//! ```text
//! answer                    a read                          a write
//! 2xx, 302                  taken                           taken
//! 429, 403 of a limit       wait as told, ask again         wait as told, send again: it was not carried out
//! 5xx, no answer, cut off   1, 2, 4, 8 s at most, 5 tries   look whether it was carried out; send again only if not
//! 401, 403, 404, 422        the end                         the end
//! ```
//!
//! octocrab brings the login, the base address and the routes of Enterprise servers; its own retries are not built in,
//! since they send a POST again without looking. Below it works reqwest, which knows proxies and the certificates of
//! the system. No type of either leaves this file.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use http_body_util::{BodyExt, Limited};
use rand::RngExt;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::SeedableRng;
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue, LINK, LOCATION, RETRY_AFTER};
use reqwest::{Method, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::runtime::Runtime;

use super::names::{FilePath, Repository, encode};
use crate::error::{Error, Result};

/// Tries of a request that is answered by nothing usable.
const TRIES: u32 = 5;

/// Pause between two writes, as GitHub asks of those that create something.
const WRITE_PAUSE: Duration = Duration::from_secs(1);

/// Wait where a limit is hit and nothing says for how long; it doubles.
const LIMIT_WAIT: Duration = Duration::from_secs(60);

/// Largest answer that is read: a hundred comments of full length.
const BODY_MAX: usize = 32 << 20;

/// Largest source or configuration file that is read.
const FILE_MAX: usize = 1 << 20;

/// Pages of a list that are read.
const PAGES_MAX: usize = 200;

/// A token. It is shown nowhere.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Takes a token as it stands in a variable or file.
    ///
    /// # Errors
    ///
    /// When it is empty or could not stand in a header.
    pub fn new(text: &str) -> Result<Self> {
        let text = text.trim();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::usage(
                "the token is empty or holds blanks; pass it in the environment as GITHUB_TOKEN",
            ));
        }
        Ok(Token(text.to_owned()))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Time, and waiting; a test waits in no time.
pub trait Clock {
    /// Time since the clock was made.
    fn elapsed(&self) -> Duration;
    /// Seconds since 1970.
    fn unix(&self) -> u64;
    /// Waits.
    fn wait(&self, time: Duration);
}

/// The clock on the wall.
#[derive(Debug)]
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        SystemClock(Instant::now())
    }
}

impl Clock for SystemClock {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    fn unix(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }

    fn wait(&self, time: Duration) {
        thread::sleep(time);
    }
}

/// Where requests go, as whom, and how long they may take.
#[derive(Clone, Debug)]
pub struct Access {
    /// Address of the API: `https://api.github.com`, or `https://HOST/api/v3` of an Enterprise server.
    pub api: String,
    /// As whom.
    pub token: Token,
    /// The repository.
    pub repository: Repository,
    /// How long a connection may take to come about.
    pub connect: Duration,
    /// How long one answer may take.
    pub answer: Duration,
    /// How long everything may take together, waiting included.
    pub deadline: Duration,
}

/// A request that came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The answer's status; none where there was no answer, or no time left.
    pub status: Option<u16>,
    /// What happened.
    pub message: String,
}

impl Failure {
    fn lost(message: impl Into<String>) -> Self {
        Failure { status: None, message: message.into() }
    }

    /// Whether the token lacks a right: GitHub also answers 404 to those who may not know.
    pub fn is_denied(&self) -> bool {
        matches!(self.status, Some(401 | 403 | 404))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Error::judge(failure.message)
    }
}

/// What is done about an answer.
enum Answer {
    Taken(Reply),
    /// Wait so long, where it is known; the request was not carried out.
    Limited(Option<Duration>, String),
    /// Nobody knows whether it was carried out.
    Broken(Failure),
    Refused(Failure),
}

struct Reply {
    headers: HeaderMap,
    body: Vec<u8>,
}

/// A way to GitHub.
pub struct Client {
    runtime: Runtime,
    crab: octocrab::Octocrab,
    /// For what lies elsewhere: it has no token.
    plain: reqwest::Client,
    access: Access,
    clock: Box<dyn Clock>,
    last_write: Cell<Option<Duration>>,
    jitter: RefCell<Pcg32>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("access", &self.access).finish_non_exhaustive()
    }
}

impl Client {
    /// Prepares; nothing is sent yet.
    ///
    /// # Errors
    ///
    /// When the address is none, or not a safe one, or the system has no certificates to trust.
    pub fn new(access: Access, clock: Box<dyn Clock>) -> Result<Self> {
        let api = safe(&access.api).map_err(Error::usage)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let plain = plain_client(access.connect, access.answer)?;
        let crab = runtime
            .block_on(async {
                octocrab::Octocrab::builder()
                    .base_uri(api.as_str().trim_end_matches('/'))?
                    .personal_token(access.token.0.clone())
                    .build_with_reqwest(plain.clone())
            })
            .map_err(|error| Error::judge(format!("no client for {api}: {}", chain(&error))))?;
        // Which of several waiting jobs asks first is all that this decides.
        let jitter =
            RefCell::new(Pcg32::seed_from_u64(clock.unix() ^ u64::from(std::process::id())));
        Ok(Client { runtime, crab, plain, access, clock, last_write: Cell::new(None), jitter })
    }

    /// The repository.
    pub fn repository(&self) -> &Repository {
        &self.access.repository
    }

    /// Asks for one thing of the repository.
    pub(super) fn get<T: DeserializeOwned>(&self, route: &str) -> Result<T, Failure> {
        self.understood(&self.read(&self.route(route), None, BODY_MAX)?)
    }

    /// Asks for a list, page by page; `key` names it where it stands within an object.
    pub(super) fn list<T: DeserializeOwned>(
        &self,
        route: &str,
        key: Option<&str>,
    ) -> Result<Vec<T>, Failure> {
        let joint = if route.contains('?') { '&' } else { '?' };
        let mut next = Some(self.route(&format!("{route}{joint}per_page=100")));
        let mut all = Vec::new();
        for _ in 0..PAGES_MAX {
            let Some(route) = next.take() else { return Ok(all) };
            let reply = self.read(&route, None, BODY_MAX)?;
            let mut page: Value = self.understood(&reply)?;
            let items = match key {
                Some(key) => page.get_mut(key).map(Value::take).unwrap_or_default(),
                None => page,
            };
            let items: Vec<T> = serde_json::from_value(items)
                .map_err(|error| Failure::lost(format!("{route}: no list: {error}")))?;
            all.extend(items);
            next = reply.headers.get(LINK).and_then(|link| self.next_page(link));
        }
        Err(Failure::lost(format!("{route}: more than {PAGES_MAX} pages; that is not read")))
    }

    /// A file at a commit, or at the tip of the default branch; `None` where there is none.
    pub(super) fn file(
        &self,
        path: &FilePath,
        at: Option<&str>,
    ) -> Result<Option<String>, Failure> {
        let at = at.map_or_else(String::new, |at| format!("?ref={}", encode(at)));
        let route = self.route(&format!("contents/{}{at}", path.encoded()));
        match self.read(&route, Some("application/vnd.github.raw+json"), FILE_MAX) {
            Ok(reply) => String::from_utf8(reply.body)
                .map(Some)
                .map_err(|_| Failure::lost(format!("{path}: it is not text in UTF-8"))),
            Err(failure) if failure.status == Some(404) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Who this is, where the token is a person's.
    pub(super) fn login(&self) -> Option<String> {
        let user: Value = self.understood(&self.read("/user", None, BODY_MAX).ok()?).ok()?;
        user["login"].as_str().map(str::to_owned)
    }

    /// Downloads what a route redirects to, at most `cap` bytes. The token stays at GitHub.
    pub(super) fn download(&self, route: &str, cap: usize) -> Result<Vec<u8>, Failure> {
        let reply = self.read(&self.route(route), None, cap)?;
        let Some(location) = reply.headers.get(LOCATION) else { return Ok(reply.body) };
        let location = location.to_str().unwrap_or_default();
        let target = safe(location).map_err(Failure::lost)?;
        self.tries(|| {
            let fetch = async {
                let reply = self.plain.get(target.clone()).send().await?;
                let (status, headers) = (reply.status().as_u16(), reply.headers().clone());
                Ok::<_, reqwest::Error>((
                    status,
                    headers,
                    capped(reqwest::Body::from(reply), cap).await,
                ))
            };
            match self.within_time(fetch) {
                Err(failure) => Answer::Broken(failure),
                Ok(Err(error)) => Answer::Broken(Failure::lost(format!(
                    "the download failed: {}",
                    chain(&error.without_url())
                ))),
                Ok(Ok((status, headers, body))) => {
                    self.judged("the download", status, headers, body, cap)
                }
            }
        })
        .map(|reply| reply.body)
    }

    /// Creates something. Where no answer tells whether it came about, `look` says whether it is there.
    pub(super) fn create(
        &self,
        route: &str,
        body: &Value,
        look: &dyn Fn() -> Result<Option<Value>, Failure>,
    ) -> Result<Value, Failure> {
        self.write(&Method::POST, route, Some(body), look)
    }

    /// Changes something to what is given, or takes it away; doing it twice is doing it once.
    pub(super) fn change(
        &self,
        method: Change,
        route: &str,
        body: Option<&Value>,
    ) -> Result<Value, Failure> {
        let method = match method {
            Change::Patch => Method::PATCH,
            Change::Delete => Method::DELETE,
        };
        self.write(&method, route, body, &|| Ok(None))
    }

    fn write(
        &self,
        method: &Method,
        route: &str,
        body: Option<&Value>,
        look: &dyn Fn() -> Result<Option<Value>, Failure>,
    ) -> Result<Value, Failure> {
        let route = self.route(route);
        let mut limits = 0;
        for attempt in 0..TRIES {
            loop {
                self.pause_before_write()?;
                match self.once(method, &route, None, body, BODY_MAX) {
                    Answer::Taken(reply) if reply.body.is_empty() => return Ok(Value::Null),
                    Answer::Taken(reply) => return self.understood(&reply),
                    Answer::Refused(failure) => return Err(failure),
                    Answer::Limited(told, why) => {
                        self.wait(told.unwrap_or(LIMIT_WAIT * 2u32.pow(limits)), &why)?;
                        limits = (limits + 1).min(6);
                    }
                    Answer::Broken(failure) => {
                        // The look has tries of its own, so this is no moment later.
                        if let Some(there) = look()? {
                            return Ok(there);
                        }
                        if attempt + 1 == TRIES {
                            return Err(failure);
                        }
                        self.back_off(attempt, &failure.message)?;
                        break;
                    }
                }
            }
        }
        unreachable!("the last try returns")
    }

    fn read(&self, route: &str, accept: Option<&str>, cap: usize) -> Result<Reply, Failure> {
        self.tries(|| self.once(&Method::GET, route, accept, None, cap))
    }

    /// Asks again as often as it makes sense.
    fn tries(&self, ask: impl Fn() -> Answer) -> Result<Reply, Failure> {
        let (mut attempt, mut limits) = (0, 0);
        loop {
            match ask() {
                Answer::Taken(reply) => return Ok(reply),
                Answer::Refused(failure) => return Err(failure),
                Answer::Limited(told, why) => {
                    self.wait(told.unwrap_or(LIMIT_WAIT * 2u32.pow(limits)), &why)?;
                    limits = (limits + 1).min(6);
                }
                Answer::Broken(failure) if attempt + 1 == TRIES => return Err(failure),
                Answer::Broken(failure) => {
                    self.back_off(attempt, &failure.message)?;
                    attempt += 1;
                }
            }
        }
    }

    fn once(
        &self,
        method: &Method,
        route: &str,
        accept: Option<&str>,
        body: Option<&Value>,
        cap: usize,
    ) -> Answer {
        let what = format!("{method} {}", route.split('?').next().unwrap_or_default());
        let send = async {
            let reply = match *method {
                Method::POST => self.crab._post(route, body).await?,
                Method::PATCH => self.crab._patch(route, body).await?,
                Method::DELETE => self.crab._delete(route, body).await?,
                _ => {
                    let mut headers = HeaderMap::new();
                    if let Some(accept) = accept.and_then(|text| HeaderValue::from_str(text).ok()) {
                        headers.insert(ACCEPT, accept);
                    }
                    self.crab._get_with_headers(route, Some(headers)).await?
                }
            };
            let (parts, body) = reply.into_parts();
            Ok::<_, octocrab::Error>((parts, capped(body, cap).await))
        };
        match self.within_time(send) {
            Err(failure) => Answer::Broken(failure),
            Ok(Err(error)) => {
                Answer::Broken(self.failure(None, format!("{what}: {}", chain(&error))))
            }
            Ok(Ok((parts, body))) => {
                self.judged(&what, parts.status.as_u16(), parts.headers, body, cap)
            }
        }
    }

    /// What an answer means.
    fn judged(
        &self,
        what: &str,
        status: u16,
        headers: HeaderMap,
        body: Result<Vec<u8>, BodyError>,
        cap: usize,
    ) -> Answer {
        let body = match body {
            Ok(body) => body,
            Err(error) if error.is::<http_body_util::LengthLimitError>() => {
                return Answer::Refused(self.failure(
                    None,
                    format!("{what}: the answer is longer than the {cap} bytes that are read"),
                ));
            }
            Err(_) => {
                return Answer::Broken(
                    self.failure(None, format!("{what}: the answer is cut off")),
                );
            }
        };
        let said = said(&body);
        let text = format!("{what}: {status}: {said}");
        let number =
            |name: &str| -> Option<u64> { headers.get(name)?.to_str().ok()?.trim().parse().ok() };
        let (after, spent) =
            (number(RETRY_AFTER.as_str()), number("x-ratelimit-remaining") == Some(0));
        let limit = after.is_some() || spent || said.to_lowercase().contains("rate limit");
        match status {
            200..=399 => Answer::Taken(Reply { headers, body }),
            429 => self.limited(after, spent, number("x-ratelimit-reset"), text),
            403 if limit => self.limited(after, spent, number("x-ratelimit-reset"), text),
            500.. => Answer::Broken(self.failure(Some(status), text)),
            _ => Answer::Refused(self.failure(Some(status), text)),
        }
    }

    fn limited(&self, after: Option<u64>, spent: bool, reset: Option<u64>, why: String) -> Answer {
        let until =
            reset.filter(|_| spent).map(|reset| reset.saturating_sub(self.clock.unix()) + 1);
        Answer::Limited(after.or(until).map(Duration::from_secs), self.scrubbed(why))
    }

    fn within_time<T>(&self, work: impl Future<Output = T>) -> Result<T, Failure> {
        let left = self.access.deadline.saturating_sub(self.clock.elapsed());
        let time = left.min(self.access.answer);
        self.runtime
            .block_on(async { tokio::time::timeout(time, work).await })
            .map_err(|_| Failure::lost(format!("no answer within {time:?}")))
    }

    /// Full jitter: many jobs that failed together must not ask together again.
    fn back_off(&self, attempt: u32, why: &str) -> Result<(), Failure> {
        let most = Duration::from_secs(1 << attempt.min(3));
        let share: f64 = self.jitter.borrow_mut().random();
        self.wait(most.mul_f64(share), why)
    }

    fn pause_before_write(&self) -> Result<(), Failure> {
        if let Some(last) = self.last_write.get() {
            let since = self.clock.elapsed().saturating_sub(last);
            if since < WRITE_PAUSE {
                self.wait(WRITE_PAUSE - since, "one write a second")?;
            }
        }
        self.last_write.set(Some(self.clock.elapsed()));
        Ok(())
    }

    fn wait(&self, time: Duration, why: &str) -> Result<(), Failure> {
        let left = self.access.deadline.saturating_sub(self.clock.elapsed());
        if left < time {
            return Err(Failure::lost(format!(
                "{why}; the next try is {} s away and only {} s are left; raise --deadline, or run again later",
                time.as_secs(),
                left.as_secs()
            )));
        }
        self.clock.wait(time);
        Ok(())
    }

    fn route(&self, route: &str) -> String {
        let repository = &self.access.repository;
        format!("/repos/{repository}/{route}")
    }

    /// The route of the next page, where it is one of this API.
    fn next_page(&self, link: &HeaderValue) -> Option<String> {
        let part = link.to_str().ok()?.split(',').find(|part| part.contains("rel=\"next\""))?;
        let url = part.split_once('<')?.1.split_once('>')?.0;
        let api = self.access.api.trim_end_matches('/');
        url.strip_prefix(api).filter(|route| route.starts_with('/')).map(str::to_owned)
    }

    fn understood<T: DeserializeOwned>(&self, reply: &Reply) -> Result<T, Failure> {
        serde_json::from_slice(&reply.body).map_err(|error| {
            Failure::lost(format!("the answer is not what GitHub's API promises: {error}"))
        })
    }

    fn failure(&self, status: Option<u16>, message: String) -> Failure {
        Failure { status, message: self.scrubbed(message) }
    }

    fn scrubbed(&self, message: String) -> String {
        let token = self.access.token.0.as_str();
        if message.contains(token) { message.replace(token, "***") } else { message }
    }
}

/// The token of a GitHub App's installation at a repository. It is used as any other token is: octocrab's own client of
/// an installation leaves the login out on the second page of a list at an Enterprise server.
///
/// # Errors
///
/// When the key is none, or GitHub does not know the App or its installation.
#[cfg(feature = "app-auth")]
pub fn app_token(api: &str, repository: &Repository, id: &str, key: &str) -> Result<Token> {
    let api = safe(api).map_err(Error::usage)?;
    let id: u64 = id.trim().parse().map_err(|_| Error::usage("PACEGATE_APP_ID: it is a number"))?;
    let plain = plain_client(Duration::from_secs(10), Duration::from_secs(30))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let route = format!("/repos/{repository}/installation");
    let mint = async {
        let app = octocrab::Octocrab::builder()
            .base_uri(api.as_str().trim_end_matches('/'))?
            .app_from_rsa_pem(id.into(), key)?
            .build_with_reqwest(plain)?;
        let installation: octocrab::models::Installation = app.get(route, None::<&()>).await?;
        app.installation_and_token(installation.id).await
    };
    let (_, token) = runtime.block_on(mint).map_err(|error| {
        Error::judge(format!(
            "the App got no token for {repository}: {}; is it installed there?",
            chain(&error)
        ))
    })?;
    Token::new(secrecy::ExposeSecret::expose_secret(&token))
}

/// How something that is there is changed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// Some of it is replaced.
    Patch,
    /// It is taken away.
    Delete,
}

/// An address that a request may go to: https, or this machine.
pub(super) fn safe(address: &str) -> Result<Url, String> {
    let url = Url::parse(address).map_err(|error| format!("it is no address: {error}"))?;
    let here = matches!(url.host_str(), Some("127.0.0.1" | "[::1]" | "localhost"));
    if (url.scheme() == "https" || (url.scheme() == "http" && here)) && url.username().is_empty() {
        return Ok(url);
    }
    Err(format!("{}://{}: only https is safe", url.scheme(), url.host_str().unwrap_or_default()))
}

/// A client without a token, which follows no redirect.
pub(super) fn plain_client(connect: Duration, answer: Duration) -> Result<reqwest::Client> {
    // An error says that a provider is there already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(connect)
        .read_timeout(answer)
        .user_agent(concat!("pacegate/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| {
            Error::judge(format!(
                "{}; install the system's certificates, or set SSL_CERT_FILE",
                chain(&error)
            ))
        })
}

type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// A body, which is given up as soon as it is too long.
async fn capped<B>(body: B, cap: usize) -> Result<Vec<u8>, BodyError>
where
    B: http_body::Body,
    B::Error: Into<BodyError>,
{
    Limited::new(body, cap).collect().await.map(|body| body.to_bytes().to_vec())
}

/// What an answer says of itself: GitHub's message, or the beginning of a page that a proxy wrote.
fn said(body: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Message {
        message: String,
        #[serde(default)]
        errors: Vec<Value>,
        #[serde(default)]
        documentation_url: String,
    }
    match serde_json::from_slice::<Message>(body) {
        Ok(said) => {
            let errors: Vec<String> = said
                .errors
                .iter()
                .map(|error| {
                    error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned)
                })
                .collect();
            let secondary = said.documentation_url.contains("secondary-rate-limits");
            let tail = if secondary { " (a secondary rate limit)" } else { "" };
            format!(
                "{}{}{tail}",
                said.message,
                errors.iter().map(|e| format!("; {e}")).collect::<String>()
            )
        }
        Err(_) => {
            String::from_utf8_lossy(body).split_whitespace().take(20).collect::<Vec<_>>().join(" ")
        }
    }
}

/// An error with what caused it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_go_nowhere_unsafe() {
        for address in
            ["https://api.github.com", "https://h/api/v3", "http://127.0.0.1:1", "http://[::1]:2/x"]
        {
            assert!(safe(address).is_ok(), "{address}");
        }
        for address in [
            "http://api.github.com",
            "ftp://127.0.0.1",
            "http://127.0.0.1.example.org",
            "",
            "x",
            "file:///x",
            "https://u:p@h/",
        ] {
            assert!(safe(address).is_err(), "{address}");
        }
    }

    #[test]
    fn answers_are_put_in_words() {
        assert_eq!(said(br#"{"message":"Not Found"}"#), "Not Found");
        assert_eq!(
            said(br#"{"message":"Bad","errors":[{"message":"too long"},"x"]}"#),
            "Bad; too long; \"x\""
        );
        assert_eq!(said(b"<html>\n<h1>502</h1>"), "<html> <h1>502</h1>");
    }

    #[test]
    fn a_token_is_not_shown() {
        let token = Token::new(" ghs_SENTINEL\n").unwrap();
        assert_eq!(format!("{token:?}"), "Token(..)");
        assert!(Token::new("").is_err() && Token::new("a b").is_err());
    }
}
