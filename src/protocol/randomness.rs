//! Whether a text looks drawn at random, as keys, tokens and the ids of private links are.

/// How long a text is at least that nobody can guess, in letters and digits.
const LEAST: usize = 16;

/// One in how many letters is followed by one of another kind, at least. Of random letters and digits
/// every second or third is, of the words of a name hardly one in eight.
const STEADY: usize = 4;

/// The same where no separator is in so many letters: no name is that long in one word.
const UNBROKEN: (usize, usize) = (24, 6);

/// Whether a part of a path or a value looks drawn at random: a UUID, hexadecimal digits, base32, base58
/// or base64url. Words, however they are joined, versions and dates do not.
pub fn looks_random(text: &str) -> bool {
    let is_separator = |letter: char| matches!(letter, '-' | '_' | '.' | '~' | '=' | '+');
    if !text.chars().all(|letter| letter.is_ascii_alphanumeric() || is_separator(letter)) {
        return false;
    }
    let letters: Vec<char> = text.chars().filter(|letter| !is_separator(*letter)).collect();
    let has = |kind: fn(&char) -> bool| letters.iter().any(kind);
    if letters.len() < LEAST || !has(char::is_ascii_digit) || !has(char::is_ascii_alphabetic) {
        return false;
    }
    let is_unbroken = letters.len() == text.len() && UNBROKEN.0 <= text.len();
    let steady = if is_unbroken { UNBROKEN.1 } else { STEADY };
    letters.iter().all(char::is_ascii_hexdigit) || letters.len() <= steady * changes(text)
}

/// How often a letter and a digit, or a small and then a capital letter, are beside each other.
fn changes(text: &str) -> usize {
    let is_change = |(one, next): &(char, char)| {
        let is_word = one.is_ascii_alphanumeric() && next.is_ascii_alphanumeric();
        let is_other = one.is_ascii_digit() != next.is_ascii_digit();
        is_word && (is_other || one.is_ascii_lowercase() && next.is_ascii_uppercase())
    };
    text.chars().zip(text.chars().skip(1)).filter(is_change).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_drawn_is_told_from_what_was_named() {
        let check = |text: &str, expected| assert_eq!(looks_random(text), expected, "{text}");
        for drawn in [
            "Zk3xQ9vT7bN1mW5cR8pL2dF6hJ4sA0yE",
            "0d9f2c4ab7e81356",
            "3F2504E0-4F89-11D3-9A0C-0305E82C3301",
            "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d",
            "d41d8cd98f00b204e9800998ecf8427e",
            "mfrggzdfmztwq2lknnwg23tpobyxe43u",
            "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ",
            "s3cr3t-Ab12_Cd34-Ef56",
            "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
            "NzY1NDMyMTA5ODc2NTQzMjE=",
        ] {
            check(drawn, true);
        }
        for named in [
            "",
            "mcp",
            "latest",
            "0d9f2c4a",
            "servers",
            "com.example-weather",
            "io.github.octocat.my-very-long-server-name",
            "oauth-protected-resource",
            "getCurrentWeatherForecastByPostalCode",
            "modelcontextprotocol",
            "2026-07-28",
            "2026-07-28-draft-3-streamable-http",
            "claude-3-5-sonnet-20241022",
            "k8s-cluster-01-us-east1-b",
            "x86_64-unknown-linux-gnu",
            "v1beta1.rev2.candidate",
            "mcp-server-card.schema.json",
            "12345678901234567890",
            "größe-0d9f2c4ab7e81356",
        ] {
            check(named, false);
        }
    }
}
