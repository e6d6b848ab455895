//! The commands about skills. Their comments are the help texts.

use std::path::PathBuf;

use argh::{ArgsInfo, FromArgs};

use super::readers::path;
use super::usage::UsageError;

/// list the skills of a server
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "skills", help_triggers("-h", "--help"))]
#[argh(note = "A line has the URI, the name and the description, with tabs between them. No file \
               of a skill is read.")]
#[argh(note = "With --json a line is a skill as the server describes it.")]
#[argh(example = "mcpmini skills office")]
#[argh(example = "mcpmini skills --json office | jq -r .frontmatter.name")]
pub struct Skills {
    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,
}

/// print a skill or a file of it, once it is verified
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "skill", help_triggers("-h", "--help"))]
#[argh(note = "The length and the SHA-256 hash of every file are compared with the server's list \
               of skills, and so is the frontmatter of SKILL.md. If anything differs, nothing is \
               printed or installed, and the exit code is 11.")]
#[argh(note = "With --json a line is the result for one file.")]
#[argh(example = "mcpmini skill office pdf-processing")]
#[argh(example = "mcpmini skill office pdf-processing references/FORMS.md")]
#[argh(example = "mcpmini skill office skill://pdf-processing/SKILL.md --install .claude/skills")]
pub struct Skill {
    /// read and compare all files of the skill, also those that are not printed
    #[argh(switch)]
    pub with_files: bool,

    /// write all files of the skill to DIR/NAME, where other files stay as they are, and print
    /// the paths on standard error as JSON
    #[argh(option, arg_name = "DIR", from_str_fn(path))]
    pub install: Option<PathBuf>,

    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,

    /// the skill: its name, or the URI of its SKILL.md
    #[argh(positional, arg_name = "SKILL")]
    pub skill: String,

    /// the file, as a path in the skill (default SKILL.md)
    #[argh(positional, arg_name = "FILE")]
    pub file: Option<String>,
}

impl Skill {
    /// Whether its options go together.
    pub(super) fn check(&self) -> Result<(), UsageError> {
        match (&self.file, &self.install) {
            (Some(_), Some(_)) => Err(UsageError::Contradiction("FILE", "--install")),
            _ => Ok(()),
        }
    }
}
