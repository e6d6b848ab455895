//! What a tool call returned (2026-07-28, Tools: Tool Result).

use std::borrow::Cow;
use std::ops::Range;

use super::document::{Document, Node};
use crate::json::Json;
use crate::jsonrpc::scan;

/// Blocks of text that are longer are unescaped piece by piece when they are written, in bytes.
const LONG: usize = 1 << 20;

/// The result of `tools/call`, as far as this client looks at it.
///
/// Nothing in a result makes reading fail: what is missing is empty, and a block of a type or shape
/// that is not known is [`Kind::Unknown`], with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallResult<'a> {
    /// `content`, as the text it came in; empty when there is none.
    pub content: &'a str,
    /// Where in it a string stands whose end is known; empty when there is none.
    passed: Range<usize>,
    /// `structuredContent`, as the text it came in.
    pub structured: Option<&'a str>,
    /// Whether the tool says that it failed.
    pub is_error: bool,
}

/// A content block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block<'a> {
    /// What it holds.
    pub kind: Kind<'a>,
    /// The text it came in.
    pub text: &'a str,
}

/// What a content block holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind<'a> {
    /// Text.
    Text(Text<'a>),
    /// An image.
    Image(Media),
    /// A piece of audio.
    Audio(Media),
    /// The address of a resource.
    ResourceLink {
        /// The address.
        uri: String,
        /// The name, for programs.
        name: Option<String>,
        /// The name, for people.
        title: Option<String>,
        /// What it is, for models.
        description: Option<String>,
        /// The media type.
        mime_type: Option<String>,
    },
    /// A resource itself.
    Resource(Resource),
    /// Something else.
    Unknown {
        /// Its type; empty when it has none.
        name: String,
    },
}

/// A text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text<'a> {
    /// What it says.
    Short(String),
    /// The JSON string it came in, so that it is in memory once.
    Long(&'a str),
}

impl Text<'_> {
    /// What it says.
    pub fn to_str(&self) -> Cow<'_, str> {
        match self {
            Text::Short(text) => Cow::Borrowed(text),
            Text::Long(quoted) => scan::unescape(quoted).unwrap_or_default(),
        }
    }

    /// What it says, piece by piece.
    pub fn pieces<E>(&self, mut take: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        match self {
            Text::Short(text) => take(text),
            Text::Long(quoted) => scan::unescape_pieces(quoted, take),
        }
    }
}

/// The bytes of an image or a piece of audio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// The media type.
    pub mime_type: Option<String>,
    /// The bytes, in Base64.
    pub base64: String,
}

/// The contents of a resource (2026-07-28, Resources: Resource Contents).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// The address; empty when the server gave none.
    pub uri: String,
    /// The media type.
    pub mime_type: Option<String>,
    /// The contents.
    pub body: Body,
}

/// What a resource holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Text.
    Text(String),
    /// Bytes, in Base64.
    Base64(String),
}

impl<'a> CallResult<'a> {
    /// Reads the result that a tool gave.
    ///
    /// ```
    /// use mcpmini_protocol::json::Json;
    /// use mcpmini_protocol::model::document::Document;
    /// use mcpmini_protocol::model::result::{CallResult, Kind, Text};
    /// let result = Json::from(r#"{"content":[{"type":"text","text":"hi"}],"isError":true}"#);
    /// let result = CallResult::read(&result);
    /// assert!(result.is_error);
    /// let blocks = result.blocks(&mut Document::new());
    /// assert_eq!(blocks[0].kind, Kind::Text(Text::Short("hi".into())));
    /// ```
    pub fn read(json: &'a Json) -> CallResult<'a> {
        let mut result =
            CallResult { content: "", passed: 0..0, structured: None, is_error: false };
        for (key, value) in json.members() {
            match &*key {
                "content" => {
                    (result.content, result.passed) = (value, json.string_in(value));
                }
                "structuredContent" => result.structured = Some(value),
                // Whatever else a server writes there, it would not have to say that all is well.
                "isError" => result.is_error = !matches!(value, "false" | "null"),
                _ => (),
            }
        }
        // Null is how some encoders write that there is none.
        result.structured = result.structured.filter(|text| *text != "null");
        result
    }

    /// The content blocks, in order.
    pub fn blocks(&self, document: &mut Document) -> Vec<Block<'a>> {
        blocks_past(self.content, &self.passed, document)
    }
}

/// Reads the `contents` of a `resources/read` result. What has neither text nor a blob is left
/// out.
pub fn contents(result: &str, document: &mut Document) -> Vec<Resource> {
    let contents = scan::member(result, "contents").unwrap_or("[]");
    scan::elements(contents).filter_map(|text| document.read(text, resource)).collect()
}

/// Reads an array of content blocks.
pub(super) fn blocks<'a>(content: &'a str, document: &mut Document) -> Vec<Block<'a>> {
    blocks_past(content, &(0..0), document)
}

/// The same, where the string at `passed`, if that is not empty, was stepped over before.
fn blocks_past<'a>(
    content: &'a str,
    passed: &Range<usize>,
    document: &mut Document,
) -> Vec<Block<'a>> {
    // One block alone, without its array.
    if content.starts_with('{') {
        let found = scan::members_named(content, TEXT);
        return vec![block(content, found, document)];
    }
    let mut blocks = Vec::new();
    scan::objects(content, passed, TEXT, |text, found| blocks.push(block(text, found, document)));
    blocks
}

/// What must be known of a block to see whether it is a text.
const TEXT: [&str; 2] = ["type", "text"];

/// Reads a block of which the members of [`TEXT`] were found. A parser is asked only for what is no text.
fn block<'a>(text: &'a str, found: [Option<&'a str>; 2], document: &mut Document) -> Block<'a> {
    let kind = plain_text(found).map(Kind::Text).unwrap_or_else(|| {
        document.read(text, |root| {
            kind(root)
                .unwrap_or_else(|| Kind::Unknown { name: string(root, "type").unwrap_or_default() })
        })
    });
    Block { kind, text }
}

/// The text of a block of text.
fn plain_text<'a>(found: [Option<&'a str>; 2]) -> Option<Text<'a>> {
    let [Some("\"text\""), Some(quoted)] = found else { return None };
    if quoted.len() < LONG {
        return Some(Text::Short(scan::unescape(quoted)?.into_owned()));
    }
    quoted.starts_with('"').then_some(Text::Long(quoted))
}

fn kind<'a>(block: Node<'_>) -> Option<Kind<'a>> {
    let text = |name| string(block, name);
    Some(match &*block.member("type")?.as_str()? {
        "text" => Kind::Text(Text::Short(text("text")?)),
        "image" => Kind::Image(media(block)?),
        "audio" => Kind::Audio(media(block)?),
        "resource_link" => Kind::ResourceLink {
            uri: text("uri")?,
            name: text("name"),
            title: text("title"),
            description: text("description"),
            mime_type: text("mimeType"),
        },
        "resource" => Kind::Resource(resource(block.member("resource")?)?),
        _ => return None,
    })
}

fn media(block: Node<'_>) -> Option<Media> {
    Some(Media { mime_type: string(block, "mimeType"), base64: string(block, "data")? })
}

/// Reads the contents of a resource; `None` when there is neither text nor a blob.
fn resource(contents: Node<'_>) -> Option<Resource> {
    let body = match string(contents, "text") {
        Some(text) => Body::Text(text),
        None => Body::Base64(string(contents, "blob")?),
    };
    let uri = string(contents, "uri").unwrap_or_default();
    Some(Resource { uri, mime_type: string(contents, "mimeType"), body })
}

fn string(object: Node<'_>, name: &str) -> Option<String> {
    Some(object.member(name)?.as_str()?.into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::jsonrpc::scan::random::Random;

    fn read(text: &str) -> String {
        let json = Json::from(text);
        let result = CallResult::read(&json);
        let blocks = result.blocks(&mut Document::new());
        let mut seen: Vec<_> = blocks.iter().map(|block| show(&block.kind)).collect();
        seen.extend(result.structured.map(String::from));
        seen.extend(result.is_error.then(|| "failed".into()));
        seen.join(", ")
    }

    fn show(kind: &Kind<'_>) -> String {
        let media = |media: &Media| format!("{:?} {}", media.mime_type, media.base64);
        match kind {
            Kind::Text(text) => format!("{:?}", text.to_str()),
            Kind::Image(image) => format!("image {}", media(image)),
            Kind::Audio(audio) => format!("audio {}", media(audio)),
            Kind::ResourceLink { uri, name, title, description, mime_type } => {
                format!("link {uri} {name:?} {title:?} {description:?} {mime_type:?}")
            }
            Kind::Resource(Resource { uri, mime_type, body }) => {
                format!("resource {uri} {mime_type:?} {body:?}")
            }
            Kind::Unknown { name } => format!("unknown {name}"),
        }
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(read(text), expected, "{text}");
    }

    /// Checks one content block.
    #[track_caller]
    fn check_block(block: &str, expected: &str) {
        check(&format!(r#"{{"content":[{block}]}}"#), expected);
    }

    #[test]
    fn a_long_text_is_not_copied() {
        let quoted = format!("\"{}\\n\"", "x".repeat(LONG));
        let text = format!(r#"{{"content":[{{"type":"text","text":{quoted}}}]}}"#);
        let mut json = Json::from(&*text);
        let unchecked = json.clone();
        assert_eq!(json.check(), Ok(()));
        let passed = CallResult::read(&json).passed;
        assert_eq!(passed.len(), quoted.len());
        let blocks = CallResult::read(&json).blocks(&mut Document::new());
        assert!(blocks == CallResult::read(&unchecked).blocks(&mut Document::new()));
        let Kind::Text(long @ Text::Long(found)) = &blocks[0].kind else { panic!("not long") };
        assert!(json.as_str().as_bytes().as_ptr_range().contains(&found.as_ptr()));
        assert!(long.to_str() == scan::unescape(&quoted).unwrap());
        let mut whole = String::new();
        let taken: Result<(), ()> = long.pieces(|piece| {
            whole.push_str(piece);
            Ok(())
        });
        assert!(taken == Ok(()) && whole == long.to_str());
        check(&format!(r#"{{"content":[{{"type":5,"text":{quoted}}}]}}"#), "unknown ");
    }

    #[test]
    fn blocks_are_read_by_their_type() {
        check_block(r#"{"type":"text","text":"a\u00e9\n"}"#, r#""aé\n""#);
        check_block(
            r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#,
            r#"image Some("image/png") AA=="#,
        );
        check_block(r#"{"mimeType":null,"data":"","type":"audio"}"#, "audio None ");
        check_block(
            r#"{"type":"resource_link","uri":"a:b","name":"n","mimeType":"t/t","annotations":[]}"#,
            r#"link a:b Some("n") None None Some("t/t")"#,
        );
        check_block(
            r#"{"type":"resource","resource":{"uri":"a:b","mimeType":"t/t","text":"x"}}"#,
            r#"resource a:b Some("t/t") Text("x")"#,
        );
        check_block(
            r#"{"type":"resource","resource":{"uri":"a:b","blob":"AA=="}}"#,
            r#"resource a:b None Base64("AA==")"#,
        );
        check_block(r#"{"type":"video3d","x":1}"#, "unknown video3d");
    }

    #[test]
    fn blocks_of_a_wrong_shape_are_kept_as_unknown() {
        check_block(r#"{"type":"text"}"#, "unknown text");
        check_block(r#"{"type":"text","text":5}"#, "unknown text");
        check_block(r#"{"type":"image","mimeType":"image/png"}"#, "unknown image");
        check_block(r#"{"type":"resource","resource":[]}"#, "unknown resource");
        check_block(r#"{"text":"a"}"#, "unknown ");
        check_block(r#"null,7,"a",[],{}"#, "unknown , unknown , unknown , unknown , unknown ");
    }

    #[test]
    fn the_result_is_read_however_it_is_shaped() {
        check(r#"{"content":[]}"#, "");
        check(r#"{"content":null}"#, "");
        check(r#"{"content":{}}"#, "unknown ");
        check(r#"{"content":{"type":"text","text":"a"}}"#, r#""a""#);
        check(r#"{"content":"a"}"#, "");
        check("{}", "");
        check("[]", "");
        check("null", "");
        check(
            r#"{"content":[{"type":"text","text":"a"}],"isError":true,"_meta":[]}"#,
            r#""a", failed"#,
        );
        check(r#"{"content":[7],"content":[],"isError":true,"isError":false}"#, "");
        check(r#"{"isError":null}"#, "");
        for odd in ["\"true\"", "\"false\"", "1", "0", "{}"] {
            check(&format!(r#"{{"isError":{odd}}}"#), "failed");
        }
    }

    #[test]
    fn structured_content_keeps_its_text() {
        for text in
            [r#"{"n": 123456789012345678901234567890,"over":1e400 , "n":1.0}"#, "[1,null]", "0.10"]
        {
            check(&format!(r#"{{"structuredContent": {text} }}"#), text);
        }
        check(r#"{"structuredContent":null}"#, "");
    }

    #[test]
    fn the_contents_of_a_resource_are_read() {
        let text = r#"{"contents":[{"uri":"a:b","text":""},{"uri":"a:c","blob":"AA==","mimeType":"t/t"},7,
            {"uri":"a:d"}]}"#;
        let read = contents(text, &mut Document::new());
        let show = |contents: &Resource| format!("{} {:?}", contents.uri, contents.body);
        let shown: Vec<_> = read.iter().map(show).collect();
        assert_eq!(shown, [r#"a:b Text("")"#, r#"a:c Base64("AA==")"#]);
        assert_eq!(contents("{}", &mut Document::new()), []);
    }

    #[test]
    fn a_block_keeps_its_text() {
        let block = r#"{"type": "text", "text": "\ud83d", "n": 1.50}"#;
        let text = format!(r#"{{"content":[ {block} ]}}"#);
        let json = Json::from(&*text);
        let blocks = CallResult::read(&json).blocks(&mut Document::new());
        let text = Text::Short("\u{fffd}".into());
        assert_eq!(blocks, [Block { kind: Kind::Text(text), text: block }]);
    }

    #[test]
    fn texts_are_what_a_parser_finds() {
        let (mut random, mut document) = (Random::new(13), Document::new());
        let (mut texts, mut others) = (0, 0);
        for _ in 0..30_000 {
            let mut content = String::from("[{");
            for index in 0..1 + random.below(5) {
                let name = random.one_of(&["type", "text", "t\\u0065xt", "type", "text", "a"]);
                content += &format!(r#"{}"{name}":"#, if index > 0 { "," } else { "" });
                match random.below(4) {
                    0 => random.value(&mut content, 1),
                    _ if name == "type" => content += "\"text\"",
                    _ => random.string(&mut content),
                }
            }
            content += "}]";
            if random.below(4) == 0 {
                content = random.damage(&content);
            }
            // What is no JSON is not handed on. Some of what is JSON the parser does not read.
            let Ok(parsed) = serde_json::from_str::<Value>(&content) else { continue };
            let found = blocks(&content, &mut document);
            let Some(block) = parsed.get(0) else { continue };
            let expected = block["text"].as_str().filter(|_| block["type"] == "text");
            match (&found[0].kind, expected) {
                (Kind::Text(text), Some(expected)) => {
                    texts += 1;
                    assert_eq!(text.to_str(), expected, "{content}");
                }
                (Kind::Text(_), None) | (_, Some(_)) => panic!("{content}: {:?}", found[0].kind),
                _ => others += 1,
            }
        }
        assert!(texts > 5_000 && others > 5_000, "{texts} texts and {others} others");
    }
}
