//! What there is to approve about a server of a project.

use std::fmt::{self, Write};
use std::path::PathBuf;

use crate::config::{self, Digest, Layer, OAuthTemplate, Target, quoting};
use crate::env::Secret;
use crate::protocol::mask::MASK;

/// A definition that the user has not approved, with all there is to know to do so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unapproved {
    /// The server.
    pub name: String,
    /// The project file.
    pub path: PathBuf,
    /// What it does, before references are followed.
    pub effect: Effect,
    /// The hash to approve.
    pub digest: Digest,
    /// The user's or the administrator's file that defines the same name.
    pub hides: Option<Layer>,
}

/// What using a definition does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// It runs a program.
    Runs {
        /// The program and its arguments.
        argv: Vec<String>,
        /// Where, if the definition says so.
        cwd: Option<String>,
        /// The variables it sets, with their values as they are written, secrets masked.
        env: Vec<(String, String)>,
        /// The user's variables that their values are made of.
        variables: Vec<String>,
        /// The file with more variables.
        env_file: Option<String>,
        /// Whether the program gets all variables of this process.
        inherit_env: bool,
    },
    /// It sends requests.
    Contacts {
        /// The URL.
        url: String,
        /// The headers it sets, with their values as they are written, secrets masked.
        headers: Vec<(String, String)>,
        /// The user's variables that it sends in headers.
        variables: Vec<String>,
        /// What it says about logins, with values as they are written, secrets masked.
        oauth: Vec<(String, String)>,
        /// The user's variables that it sends to whoever gives out tokens.
        oauth_variables: Vec<String>,
    },
}

impl Effect {
    /// What using this does.
    pub fn of(target: &Target) -> Effect {
        match target {
            Target::Stdio(target) => Effect::Runs {
                argv: [&target.command].into_iter().chain(&target.args).cloned().collect(),
                cwd: target.cwd.clone(),
                env: shown(&target.env, config::masked_variable),
                variables: referred(&target.env),
                env_file: target.env_file.clone(),
                inherit_env: target.inherit_env,
            },
            Target::Http(target) => Effect::Contacts {
                url: target.url.clone(),
                headers: shown(&target.headers, config::masked_header),
                variables: (target.env_headers.iter().map(|(_, variable)| variable))
                    .chain(&target.bearer_token_env)
                    .cloned()
                    .chain(referred(&target.headers))
                    .collect(),
                oauth: target.oauth.as_ref().map(OAuthTemplate::shown).unwrap_or_default(),
                oauth_variables: (target.oauth.as_ref())
                    .map(OAuthTemplate::referred)
                    .unwrap_or_default(),
            },
        }
    }
}

/// Names and values as they may be shown.
fn shown(values: &[(String, Secret)], mask: fn(&str, &str) -> String) -> Vec<(String, String)> {
    values.iter().map(|(name, value)| (name.clone(), mask(name, value.expose()))).collect()
}

/// `NAME=value`, the value in quotes where it needs them. What is masked needs none.
fn assignment((name, value): &(String, String)) -> String {
    match value == MASK {
        true => format!("{}={MASK}", quoting::quote(name)),
        false => format!("{}={}", quoting::quote(name), quoting::quote(value)),
    }
}

/// The user's variables that go into some values.
fn referred(values: &[(String, Secret)]) -> Vec<String> {
    values.iter().flat_map(|(_, value)| config::variables(value.expose())).collect()
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.describe(&mut text)?;
        f.write_str(&text)?;
        match text.contains("$${") {
            true => {
                f.write_str(" (where \"$${\" stands for the characters \"${\" and no variable)")
            }
            false => Ok(()),
        }
    }
}

impl Effect {
    fn describe(&self, f: &mut String) -> fmt::Result {
        let list = |names: &[String]| quoting::join(names.iter().map(String::as_str));
        match self {
            Effect::Runs { argv, cwd, env, variables, env_file, inherit_env } => {
                write!(f, "runs {}", list(argv))?;
                if let Some(cwd) = cwd {
                    write!(f, ", in {}", quoting::quote(cwd))?;
                }
                if !env.is_empty() {
                    let env: Vec<String> = env.iter().map(assignment).collect();
                    write!(f, ", sets {}", env.join(" "))?;
                }
                if !variables.is_empty() {
                    write!(f, ", gets your variables {}", list(variables))?;
                }
                if let Some(file) = env_file {
                    write!(f, ", sets what is in {}", quoting::quote(file))?;
                }
                if *inherit_env {
                    f.write_str(", gets all your variables")?;
                }
                Ok(())
            }
            Effect::Contacts { url, headers, variables, oauth, oauth_variables } => {
                write!(f, "contacts {}", quoting::quote(url))?;
                if !headers.is_empty() {
                    let headers = headers.iter().map(|(name, value)| format!("{name}: {value}"));
                    write!(f, ", sends the headers {}", list(&headers.collect::<Vec<_>>()))?;
                }
                if !variables.is_empty() {
                    write!(f, ", sends your variables {}", list(variables))?;
                }
                if !oauth.is_empty() {
                    let oauth: Vec<String> = oauth.iter().map(assignment).collect();
                    write!(f, ", logs in with {}", oauth.join(" "))?;
                }
                if !oauth_variables.is_empty() {
                    let variables = list(oauth_variables);
                    write!(f, ", sends your variables {variables} to who gives out its tokens")?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Unapproved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unapproved { name, path, effect, digest, hides } = self;
        let name = quoting::quote(name);
        write!(f, "{name} in {} is not approved: it {effect}", path.display())?;
        if let Some(layer) = hides {
            write!(f, "; it hides {layer}:{name}")?;
        }
        write!(f, "; to approve it: mcpmini approve {name} --accept {digest}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_looks_like_a_reference_is_told_in_words() {
        let sends = |value: &str| {
            let headers = vec![("X-Fix".to_owned(), value.to_owned())];
            let (variables, oauth, oauth_variables) = (Vec::new(), Vec::new(), Vec::new());
            let url = "https://h/".to_owned();
            Effect::Contacts { url, headers, variables, oauth, oauth_variables }.to_string()
        };
        let plain = "contacts https://h/, sends the headers 'X-Fix: plain'";
        assert_eq!(sends("plain"), plain);
        let told = sends("$${HOME}");
        let expected =
            r#"'X-Fix: $${HOME}' (where "$${" stands for the characters "${" and no variable)"#;
        assert!(told.ends_with(expected), "{told}");
    }
}
