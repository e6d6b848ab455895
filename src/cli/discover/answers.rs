//! What the user says about what a document leaves open: `--var NAME=VALUE`, else the variable
//! `MCPMINI_VAR_NAME`.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use crate::cli::args::values::Variable;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::run::Run;
use crate::discovery::fill::{Answer, Answers, Missing, Unfilled};
use crate::discovery::registry::Unbuildable;
use crate::protocol::message::Sent;

/// What the user says.
#[derive(Debug)]
pub(in crate::cli) struct Said<'a> {
    run: &'a Run<'a>,
    vars: &'a [Variable],
    /// The names that were asked for.
    used: RefCell<Vec<String>>,
}

impl<'a> Said<'a> {
    pub(in crate::cli) fn new(run: &'a Run<'a>, vars: &'a [Variable]) -> Said<'a> {
        Said { run, vars, used: RefCell::default() }
    }

    /// Fills something in, and makes sure that all that was said had a use.
    pub(in crate::cli) fn fill<T>(
        &self,
        fill: impl FnOnce(&Answers<'_>) -> Result<T, Unfilled>,
    ) -> Result<T, Error> {
        let said = |name: &str| self.about(name);
        let file = |path: &str| self.file(path);
        let filled = fill(&Answers { said: &said, file: &file }).map_err(explain)?;
        self.check_use()?;
        Ok(filled)
    }

    /// The same for a command, which can be impossible for more reasons.
    pub(in crate::cli) fn build<T>(
        &self,
        build: impl FnOnce(&Answers<'_>) -> Result<T, Unbuildable>,
    ) -> Result<Result<T, Unbuildable>, Error> {
        let said = |name: &str| self.about(name);
        let file = |path: &str| self.file(path);
        match build(&Answers { said: &said, file: &file }) {
            Err(Unbuildable::Unfilled(unfilled)) => Err(explain(unfilled)),
            Err(other) => Ok(Err(other)),
            Ok(built) => self.check_use().map(|()| Ok(built)),
        }
    }

    fn check_use(&self) -> Result<(), Error> {
        let used = self.used.borrow();
        match self.vars.iter().find(|var| !used.contains(&var.name)) {
            None => Ok(()),
            Some(var) => {
                let name = &var.name;
                let text = format!("--var {name}: the document leaves nothing of that name open");
                Err(Error::new(Exit::Usage, text).phase(Phase::Usage).sent(Sent::No))
            }
        }
    }

    fn about(&self, name: &str) -> Vec<Answer> {
        self.used.borrow_mut().push(name.to_owned());
        let given = self.vars.iter().filter(|var| var.name == name).map(|var| {
            let value = var.value.as_str().to_owned();
            match value.contains("${") || value.starts_with('!') {
                true => Answer::Reference(value),
                false => Answer::Plain(value),
            }
        });
        let given: Vec<_> = given.collect();
        if !given.is_empty() {
            return given;
        }
        let name = variable(name);
        let value = self.run.env.setting(&name).and_then(|value| value.into_string().ok());
        value.into_iter().map(|value| Answer::Variable { name: name.clone(), value }).collect()
    }

    fn file(&self, path: &str) -> Option<String> {
        let home = || self.run.env.setting("HOME").map(PathBuf::from);
        let path = match path.strip_prefix("~/") {
            Some(rest) => home()?.join(rest),
            None => self.run.env.absolute(Path::new(path)),
        };
        path.exists().then(|| path.into_os_string().into_string().ok())?
    }
}

/// The variable that has a value: `api-key` is in `MCPMINI_VAR_API_KEY`.
fn variable(name: &str) -> String {
    let letter = |letter: char| match letter.is_ascii_alphanumeric() {
        true => letter.to_ascii_uppercase(),
        false => '_',
    };
    format!("MCPMINI_VAR_{}", name.chars().map(letter).collect::<String>())
}

fn explain(unfilled: Unfilled) -> Error {
    let error = Error::new(Exit::Config, unfilled.to_string());
    let error = error.phase(Phase::Config).sent(Sent::No);
    let hint = match &unfilled {
        Unfilled::Missing(missing) => match missing.first() {
            Some(Missing { name, is_secret: true, .. }) => {
                format!("--var {name}='${{VARIABLE}}', where VARIABLE has the secret at each use")
            }
            Some(Missing { name, .. }) => format!("--var {name}=VALUE"),
            None => return error,
        },
        Unfilled::Plain { name } => {
            format!("--var {name}='${{VARIABLE}}' keeps it out of the file")
        }
        Unfilled::NoRemote { has_sse: true, .. } => "--transport sse takes it".to_owned(),
        _ => return error,
    };
    error.hint(hint)
}
