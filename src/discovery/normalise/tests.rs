//! Every form that is deployed, brought into one.

use super::*;
use crate::discovery::claim::{Format, Hints, Input};
use crate::discovery::document;

/// What a document says, as lines: `name version | binding url …`, then pointer and remarks.
fn shown(text: &str, base: Option<&str>) -> Vec<String> {
    let base = base.map(|base| Address::parse(base).unwrap());
    let document = document::read(text.as_bytes()).unwrap();
    let Some(normal) = normalise(&document, base.as_ref()) else { return vec!["none".into()] };
    let mut lines = Vec::new();
    for claim in normal.claims {
        let remotes = claim.remotes.iter().map(|it| format!(" {} {}", it.binding.word(), it.url));
        let (name, version) = (claim.name.unwrap_or_default(), claim.version.unwrap_or_default());
        let remotes: String = remotes.collect();
        lines.push(format!("{} {name} {version} |{remotes}", claim.form.word()));
        lines.extend(claim.remarks.iter().map(ToString::to_string));
    }
    lines.extend(normal.pointer.map(|pointer| format!("-> {pointer}")));
    lines
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(shown(text, Some("https://h.example:8443/.well-known/x")), expected, "{text}");
}

#[test]
fn v1_cards_are_read_as_they_are() {
    check(
        r#"{"$schema":"s","name":"com.example/a","version":"1","description":"d","remotes":[
            {"type":"sse","url":"https://a/sse"},{"type":"streamable-http","url":"https://{t}.a/mcp"}]}"#,
        &["v1 com.example/a 1 | sse https://a/sse streamable-http https://{t}.a/mcp"],
    );
    check(r#"{"name":"a/b","version":"1","description":"d"}"#, &["v1 a/b 1 |"]);
    check(
        r#"{"name":"a","remotes":[1,{"type":"http"},{"type":"stdio","url":"x"}]}"#,
        &[
            "v1 a  |",
            "remotes[0] is not as it should be and was ignored",
            "a remote without url is not as it should be and was ignored",
            "an endpoint for \"stdio\" cannot be used",
        ],
    );
}

#[test]
fn the_first_draft_has_its_version_inside() {
    let draft = |transport: &str| {
        format!(
            r#"{{"version":"1.0","protocolVersion":"2025-06-18","serverInfo":{{"name":"a","title":"A",
                "version":"2.3"}},"transport":{transport}}}"#
        )
    };
    let here = "sep-1649 a 2.3 | streamable-http https://h.example:8443/mcp";
    check(&draft(r#"{"type":"streamable-http","endpoint":"/mcp"}"#), &[here]);
    check(&draft(r#"{"type":"http","endpoint":"mcp"}"#), &[here]);
    check(&draft(r#"{"type":"streamableHttp","url":"https://h.example:8443/mcp"}"#), &[here]);
    check(
        &draft(r#"{"type":"sse","endpoint":"https://other/sse"}"#),
        &["sep-1649 a 2.3 | sse https://other/sse"],
    );
    let unusable = |kind: &str| format!("an endpoint for \"{kind}\" cannot be used");
    let empty = "sep-1649 a 2.3 |";
    check(&draft(r#"{"type":"websocket","endpoint":"/ws"}"#), &[empty, &unusable("websocket")]);
    check(&draft(r#"{"type":"stdio","url":"x"}"#), &[empty, &unusable("stdio")]);
    check(&draft(r#"{"type":"http","url":"file:///x"}"#), &[empty, "\"file:///x\" is no http URL"]);
    check(&draft("{}"), &[empty]);
    check(
        r#"{"serverInfo":{"name":"a"},"transports":["sse","streamable_http"],"url":"/m"}"#,
        &["sep-1649 a  | sse https://h.example:8443/m streamable-http https://h.example:8443/m"],
    );
}

#[test]
fn manifests_name_endpoints_by_their_kind() {
    check(
        r#"{"mcp_version":"2025-03-26","server_name":"a","server_version":"1","endpoints":{
            "sse":"/sse","streamable_http":"/mcp","health":"/health"}}"#,
        &[
            "sep-1960 a 1 | streamable-http https://h.example:8443/mcp sse https://h.example:8443/sse",
            "endpoints.health is not as it should be and was ignored",
        ],
    );
    check(
        r#"{"endpoints":{"streamable_http":{"url":"https://a/"}}}"#,
        &["sep-1960   | streamable-http https://a/"],
    );
}

#[test]
fn flat_documents_have_the_endpoint_at_the_top() {
    let expected = ["flat a 1 | streamable-http https://a/mcp"];
    let more = r#""name":"a","version":"1""#;
    check(&format!(r#"{{{more},"url":"https://a/mcp"}}"#), &expected);
    check(&format!(r#"{{{more},"endpoint":"https://a/mcp","transport":"http"}}"#), &expected);
    check(
        &format!(r#"{{{more},"serverUrl":"https://a/mcp","transport":"streamable-http"}}"#),
        &expected,
    );
    check(&format!(r#"{{{more},"transport":{{"type":"http","url":"https://a/mcp"}}}}"#), &expected);
    check(r#"{"url":"//b/mcp"}"#, &["flat   | streamable-http https://b/mcp"]);
    check(
        r#"{"endpoint":"/mcp","server":{"name":"a","version":"1"}}"#,
        &["flat a 1 | streamable-http https://h.example:8443/mcp"],
    );
}

#[test]
fn lists_have_many_servers_and_never_a_command() {
    check(
        r#"{"servers":[{"name":"a","url":"/a","transport":"http"},{"name":"b","transport":"sse",
            "url":"https://b/"},{"name":"c","command":"sh","args":["-c","evil"]},{"name":"d"},7,
            {"name":"e/f","version":"1","description":"d","remotes":[]}]}"#,
        &[
            "list a  | streamable-http https://h.example:8443/a",
            "list b  | sse https://b/",
            "list c  |",
            "\"c\" names a command; a document of the network never starts one",
            "list d  |",
            "v1 e/f 1 |",
        ],
    );
    check(
        r#"{"mcpServers":{"a":{"url":"https://a/","type":"sse"},"b":{"command":"sh","url":"/b"},"c":1}}"#,
        &[
            "config a  | sse https://a/",
            "config b  |",
            "\"b\" names a command; a document of the network never starts one",
            "config c  |",
            "mcpServers.c is not as it should be and was ignored",
        ],
    );
}

#[test]
fn pointers_are_told_and_not_followed() {
    check(r#"{"serverCard":"/card.json"}"#, &["-> /card.json"]);
    check(
        r#"{"endpoint":"/mcp","server_card":"https://a/c"}"#,
        &["flat   | streamable-http https://h.example:8443/mcp", "-> https://a/c"],
    );
}

#[test]
fn in_hybrids_the_remotes_win() {
    check(
        r#"{"name":"a/b","version":"1","description":"d","serverInfo":{"name":"x","version":"9"},
            "transport":{"type":"sse","endpoint":"/old"},"remotes":[{"type":"streamable-http",
            "url":"https://new/mcp"}],"capabilities":{"tools":{}}}"#,
        &["v1-hybrid a/b 1 | streamable-http https://new/mcp"],
    );
}

#[test]
fn other_documents_are_about_no_server() {
    for text in ["{}", r#"{"name":"x"}"#, r#"{"specVersion":"1.0","entries":[]}"#] {
        check(text, &["none"]);
    }
}

#[test]
fn relative_endpoints_need_a_base() {
    let text = r#"{"name":"a","url":"/mcp"}"#;
    let remark = "\"/mcp\" is relative, and the document came from no URL";
    assert_eq!(shown(text, None), ["flat a  |", remark]);
}

#[test]
fn hints_are_read_in_all_their_shapes() {
    #[track_caller]
    fn check(members: &str, expected: Hints) {
        let text = format!("{{\"url\":\"https://a/\",{members}}}");
        let document = document::read(text.as_bytes()).unwrap();
        assert_eq!(normalise(&document, None).unwrap().claims[0].hints, expected, "{members}");
    }
    let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let capable = |words: &[&str]| Hints { capabilities: list(words), ..Hints::default() };
    check(r#""capabilities":{"tools":{},"prompts":false,"logging":null}"#, capable(&["tools"]));
    check(r#""capabilities":["tools","prompts"]"#, capable(&["tools", "prompts"]));
    check(r#""capabilities":{"tools":true}"#, capable(&["tools"]));
    check(r#""tools":[{},{}]"#, Hints { tools: Some(2), ..Hints::default() });
    let speaks = Hints { versions: list(&["2025-06-18"]), ..Hints::default() };
    check(r#""protocolVersion":"2025-06-18""#, speaks.clone());
    check(r#""mcp_version":"2025-06-18""#, speaks);
    let login = |needed, schemes: &[&str]| Hints {
        needs_login: Some(needed),
        schemes: list(schemes),
        ..Hints::default()
    };
    check(
        r#""authentication":{"required":true,"schemes":["bearer","oauth2"]}"#,
        login(true, &["bearer", "oauth2"]),
    );
    check(r#""authentication":{"type":"none"}"#, login(false, &["none"]));
    check(r#""auth":"oauth2""#, login(true, &["oauth2"]));
    check(r#""auth":false"#, login(false, &[]));
}

#[test]
fn inputs_are_read_in_both_spellings() {
    let text = r#"{"remotes":[{"type":"streamable-http","url":"https://a/","headers":[
        {"name":"X-Key","isRequired":true,"is_secret":true,"format":"number","default":"1",
         "choices":["1","2"],"value":"Bearer {k}","variables":{"k":{"description":"d"}}},{}]}]}"#;
    let document = document::read(text.as_bytes()).unwrap();
    let claims = normalise(&document, None).unwrap().claims;
    let variable = Input { description: Some("d".into()), ..Input::default() };
    let input = Input {
        is_required: true,
        is_secret: true,
        format: Format::Number,
        default: Some("1".into()),
        value: Some("Bearer {k}".into()),
        choices: vec!["1".into(), "2".into()],
        variables: vec![("k".into(), variable)],
        ..Input::default()
    };
    assert_eq!(claims[0].remotes[0].headers, [("X-Key".to_owned(), input)]);
}
