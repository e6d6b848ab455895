//! Content blocks: their text, their bytes, and what to say about those that are neither shown.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::protocol::message::Sent;
use crate::protocol::model::result::{Block, Body, Kind, Media, Resource, Text};

/// Base64 as servers write it: some leave out the padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The text of a block that is one.
pub(in crate::cli) fn text_of<'b>(block: &'b Block<'_>) -> Option<Cow<'b, str>> {
    match &block.kind {
        Kind::Text(text) => Some(text.to_str()),
        Kind::Resource(Resource { body: Body::Text(text), .. }) => Some(Cow::Borrowed(text)),
        _ => None,
    }
}

/// Whether a block is text.
pub(in crate::cli) fn is_text(block: &Block<'_>) -> bool {
    matches!(&block.kind, Kind::Text(_) | Kind::Resource(Resource { body: Body::Text(_), .. }))
}

/// The text of a block that is too long to be kept twice.
pub(super) fn long_text_of<'b>(block: &'b Block<'_>) -> Option<&'b Text<'b>> {
    match &block.kind {
        Kind::Text(text @ Text::Long(_)) => Some(text),
        _ => None,
    }
}

/// The media type that a block says it has.
pub(in crate::cli) fn mime_type_of<'b>(block: &'b Block<'_>) -> Option<&'b str> {
    match &block.kind {
        Kind::Image(media) | Kind::Audio(media) => media.mime_type.as_deref(),
        Kind::Resource(resource) => resource.mime_type.as_deref(),
        Kind::ResourceLink { .. } | Kind::Text(_) | Kind::Unknown { .. } => None,
    }
}

/// The bytes of a block; `None` when it has none of its own. Errors when the server's Base64 is
/// none.
pub(in crate::cli) fn bytes_of<'b>(block: &'b Block<'_>) -> Option<Result<Cow<'b, [u8]>, Error>> {
    match &block.kind {
        Kind::Text(text) => Some(Ok(match text.to_str() {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        })),
        Kind::Image(Media { base64, .. }) | Kind::Audio(Media { base64, .. }) => {
            Some(decode(base64).map(Cow::Owned))
        }
        Kind::Resource(resource) => Some(contents_of(resource)),
        Kind::ResourceLink { .. } | Kind::Unknown { .. } => None,
    }
}

/// The bytes of a resource.
pub(in crate::cli) fn contents_of(resource: &Resource) -> Result<Cow<'_, [u8]>, Error> {
    match &resource.body {
        Body::Text(text) => Ok(Cow::Borrowed(text.as_bytes())),
        Body::Base64(base64) => decode(base64).map(Cow::Owned),
    }
}

fn decode(base64: &str) -> Result<Vec<u8>, Error> {
    // Some encoders break lines.
    let decoded = match base64.contains(|c: char| c.is_ascii_whitespace()) {
        false => BASE64.decode(base64),
        true => {
            let dense: Vec<u8> = base64.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
            BASE64.decode(dense)
        }
    };
    decoded.map_err(|error| {
        let text = format!("the server sent invalid Base64: {error}");
        Error::new(Exit::Protocol, text).phase(Phase::Output).sent(Sent::Yes)
    })
}

/// Whether a block has bytes of its own.
pub(in crate::cli) fn has_bytes(block: &Block<'_>) -> bool {
    !matches!(block.kind, Kind::ResourceLink { .. } | Kind::Unknown { .. })
}

/// What a block is that is no text.
pub(in crate::cli) fn describe(block: &Block<'_>) -> String {
    let media = |kind: &str, mime: &Option<String>, base64: &str| {
        let bytes = base64.trim_end_matches('=').len() * 3 / 4;
        format!("{} {bytes} B", mime.as_deref().unwrap_or(kind))
    };
    match &block.kind {
        Kind::Text(_) => "text".to_owned(),
        Kind::Image(image) => media("image", &image.mime_type, &image.base64),
        Kind::Audio(audio) => media("audio", &audio.mime_type, &audio.base64),
        Kind::ResourceLink { uri, name, .. } => match name {
            Some(name) => format!("link to {uri} ({name})"),
            None => format!("link to {uri}"),
        },
        Kind::Resource(Resource { uri, mime_type, body: Body::Base64(base64) }) => {
            format!("resource {uri}, {}", media("bytes", mime_type, base64))
        }
        Kind::Resource(Resource { uri, .. }) => format!("resource {uri}"),
        Kind::Unknown { name } if name.is_empty() => "a block without a type".to_owned(),
        Kind::Unknown { name } => format!("a block of type {name}"),
    }
}

/// Appends a text that ends with a line feed, whether it has one or not.
pub(in crate::cli) fn push_lines(out: &mut String, text: &str) {
    out.push_str(text);
    if !text.ends_with('\n') {
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded_as_servers_write_it() {
        let check = |base64: &str, expected: Option<&[u8]>| {
            assert_eq!(decode(base64).ok().as_deref(), expected, "{base64}");
        };
        check("AAEC", Some(&[0, 1, 2]));
        check("AAE=", Some(&[0, 1]));
        check("AAE", Some(&[0, 1]));
        check("AA\r\nEC\n", Some(&[0, 1, 2]));
        check("", Some(&[]));
        check("-_-_", None);
        check("A", None);
    }
}
