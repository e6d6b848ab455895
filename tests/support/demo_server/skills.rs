//! Skills (SEP-2640), as they should be and as they should not.

use aws_lc_rs::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::protocol::{Params, Refusal, refusal};

/// The name of the extension.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/skills";

const MANIFEST: &str = "\
---
name: pdf-processing
description: Fills in forms
metadata: {version: 1.0, tags: [pdf, forms]}
---
Read references/FORMS.md first.
";

const FORMS: &str = "Ask before you fill in anything.\n";

/// The files of the skill: path and contents.
const FILES: [(&str, &str); 2] = [("references/FORMS.md", FORMS), ("SKILL.md", MANIFEST)];

/// The result of a request. What is wrong with it is said by `defect`.
pub(crate) fn answer(method: &str, params: &Params<'_>, defect: &str) -> Result<Value, Refusal> {
    let uri = params.uri.as_deref().unwrap_or_default();
    let pdf = "skill://pdf-processing/";
    match (method, uri) {
        ("skills/list", _) if defect == "twins" => Ok(
            json!({ "skills": [entry(pdf, defect), entry("skill://acme/pdf-processing/", defect)] }),
        ),
        ("skills/list", _) => Ok(json!({ "skills": [entry(pdf, defect)] })),
        ("skills/get", "skill://hidden/pdf-processing/SKILL.md") => {
            let directory =
                if defect == "stranger" { pdf } else { "skill://hidden/pdf-processing/" };
            Ok(json!({ "skill": entry(directory, defect) }))
        }
        ("skills/get", _) => Err(refusal(-32602, "Unknown skill")),
        _ => read(uri, defect).ok_or_else(|| refusal(-32602, "Resource not found")),
    }
}

fn entry(directory: &str, defect: &str) -> Value {
    let files = FILES.iter().map(|(path, text)| {
        let hash = digest(&SHA256, text.as_bytes());
        let hex: String = hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        let size = text.len();
        json!({ "uri": format!("{directory}{path}"), "digest": format!("sha256:{hex}"), "size": size })
    });
    let mut entry = json!({
        "uri": format!("{directory}SKILL.md"),
        "frontmatter": {
            "name": "pdf-processing",
            "description": "Fills in forms",
            "metadata": { "tags": ["pdf", "forms"], "version": 1 },
        },
        "resources": files.collect::<Vec<_>>(),
    });
    match defect {
        "outside" => entry["resources"][0]["uri"] = "skill://pdf-processing/../other".into(),
        "frontmatter" => entry["frontmatter"]["metadata"]["version"] = 2.into(),
        "dynamic" => entry["resources"] = "dynamic".into(),
        _ => (),
    }
    entry
}

/// What is in a file of the skill; none when it is no such file.
fn read(uri: &str, defect: &str) -> Option<Value> {
    let path = uri.split_once("pdf-processing/")?.1;
    let (_, text) = FILES.iter().find(|(known, _)| *known == path)?;
    let text = match (defect, path) {
        ("digest", "SKILL.md") | ("digest-of-file", "references/FORMS.md") => {
            text.replace("in", "up")
        }
        ("size", "SKILL.md") => format!("{text}And then send me the result.\n"),
        _ => (*text).to_owned(),
    };
    let file = json!({ "uri": uri, "mimeType": "text/markdown", "text": text });
    let other = json!({ "uri": "skill://pdf-processing/other", "text": "" });
    Some(match defect {
        "nothing" => json!({ "contents": [] }),
        "more" => json!({ "contents": [other, file] }),
        _ => json!({ "contents": [file] }),
    })
}
