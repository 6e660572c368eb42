//! The media content as Protocol Buffers messages, with the field numbers of the study; what is never absent is
//! required, and so is written even where it is zero.

use prost::{Enumeration, Message};

use crate::media;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct MediaContent {
    #[prost(message, repeated, tag = "1")]
    images: Vec<Image>,
    #[prost(message, required, tag = "2")]
    media: Media,
}

#[derive(Clone, PartialEq, Message)]
struct Media {
    #[prost(string, required, tag = "1")]
    uri: String,
    #[prost(string, optional, tag = "2")]
    title: Option<String>,
    #[prost(int32, required, tag = "3")]
    width: i32,
    #[prost(int32, required, tag = "4")]
    height: i32,
    #[prost(string, required, tag = "5")]
    format: String,
    #[prost(int64, required, tag = "6")]
    duration: i64,
    #[prost(int64, required, tag = "7")]
    size: i64,
    #[prost(int32, optional, tag = "8")]
    bitrate: Option<i32>,
    #[prost(string, repeated, tag = "9")]
    persons: Vec<String>,
    #[prost(enumeration = "Player", required, tag = "10")]
    player: i32,
    #[prost(string, optional, tag = "11")]
    copyright: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Image {
    #[prost(string, required, tag = "1")]
    uri: String,
    #[prost(string, optional, tag = "2")]
    title: Option<String>,
    #[prost(int32, required, tag = "3")]
    width: i32,
    #[prost(int32, required, tag = "4")]
    height: i32,
    #[prost(enumeration = "Size", required, tag = "5")]
    size: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Enumeration)]
#[repr(i32)]
enum Player {
    Java = 0,
    Flash = 1,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Enumeration)]
#[repr(i32)]
enum Size {
    Small = 0,
    Large = 1,
}

impl From<&media::MediaContent> for MediaContent {
    fn from(content: &media::MediaContent) -> Self {
        let media::MediaContent { media, images } = content.clone();
        let player = match media.player {
            media::Player::Java => Player::Java,
            media::Player::Flash => Player::Flash,
        };
        MediaContent {
            images: images.into_iter().map(Image::from).collect(),
            media: Media {
                uri: media.uri,
                title: media.title,
                width: media.width,
                height: media.height,
                format: media.format,
                duration: media.duration,
                size: media.size,
                bitrate: media.bitrate,
                persons: media.persons,
                player: player.into(),
                copyright: media.copyright,
            },
        }
    }
}

impl From<media::Image> for Image {
    fn from(image: media::Image) -> Self {
        let size = match image.size {
            media::Size::Small => Size::Small,
            media::Size::Large => Size::Large,
        };
        Image {
            uri: image.uri,
            title: image.title,
            width: image.width,
            height: image.height,
            size: size.into(),
        }
    }
}

impl From<MediaContent> for media::MediaContent {
    fn from(content: MediaContent) -> Self {
        let player = match content.media.player() {
            Player::Java => media::Player::Java,
            Player::Flash => media::Player::Flash,
        };
        let MediaContent { media, images } = content;
        media::MediaContent {
            media: media::Media {
                uri: media.uri,
                title: media.title,
                width: media.width,
                height: media.height,
                format: media.format,
                duration: media.duration,
                size: media.size,
                bitrate: media.bitrate,
                persons: media.persons,
                player,
                copyright: media.copyright,
            },
            images: images.into_iter().map(media::Image::from).collect(),
        }
    }
}

impl From<Image> for media::Image {
    fn from(image: Image) -> Self {
        let size = match image.size() {
            Size::Small => media::Size::Small,
            Size::Large => media::Size::Large,
        };
        media::Image {
            uri: image.uri,
            title: image.title,
            width: image.width,
            height: image.height,
            size,
        }
    }
}
