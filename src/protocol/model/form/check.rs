//! From what people type to values that fit, and whether the values of programs do.

use std::cmp::Ordering;

use super::{Bound, Choice, Field, Form, Kind, Misfit};
use crate::decimal::Decimal;
use crate::json;
use crate::jsonrpc::scan;
use crate::tree::Tree;

impl Form {
    /// Whether `content`, JSON text, answers the form.
    ///
    /// # Errors
    /// Tells which field has no value that fits, and why; the name is empty when the whole is no
    /// object.
    pub fn check(&self, content: &str) -> Result<(), (String, Misfit)> {
        if json::validate(content).is_err() || !content.trim_start().starts_with('{') {
            return Err((String::new(), Misfit::NoObject));
        }
        for field in &self.fields {
            let fault = match scan::member(content, &field.name) {
                Some(value) => field.check(value).err(),
                None => field.required.then_some(Misfit::Missing),
            };
            if let Some(misfit) = fault {
                return Err((field.name.clone(), misfit));
            }
        }
        Ok(())
    }
}

impl Field {
    /// The value, JSON text, that somebody means who types `text`.
    pub fn value_of(&self, text: &str) -> Result<String, Misfit> {
        let value = match &self.kind {
            Kind::Text { .. } => json::string(text),
            Kind::Number { .. } | Kind::Other => text.trim().to_owned(),
            Kind::Boolean => match text.trim().to_ascii_lowercase().as_str() {
                "y" | "yes" | "true" => "true".to_owned(),
                "n" | "no" | "false" => "false".to_owned(),
                _ => return Err(Misfit::NoBoolean),
            },
            Kind::One(choices) => meant(choices, text)?.value.clone(),
            Kind::Some { .. } => format!("[{}]", self.elements_of(text)?.join(",")),
        };
        self.check(&value)?;
        Ok(value)
    }

    /// The elements of a list, JSON text, that somebody means who types `text`: one choice, or
    /// several with commas between them. How many there must be is not judged.
    pub fn elements_of(&self, text: &str) -> Result<Vec<String>, Misfit> {
        let choices = self.choices();
        if let Ok(choice) = meant(choices, text) {
            return Ok(vec![choice.value.clone()]);
        }
        let parts = text.split(',').filter(|part| !part.trim().is_empty());
        parts.map(|part| meant(choices, part).map(|choice| choice.value.clone())).collect()
    }

    /// Whether a value, JSON text, fits.
    pub fn check(&self, value: &str) -> Result<(), Misfit> {
        match &self.kind {
            Kind::Text { min_length, max_length, format } => {
                let text = scan::unescape(value).ok_or(Misfit::NoText)?;
                let length = text.chars().count() as u64;
                at_least(length, *min_length, Misfit::TooShort)?;
                at_most(length, *max_length, Misfit::TooLong)?;
                match format {
                    Some(format) if !format.fits(&text) => Err(Misfit::Format(*format)),
                    _ => Ok(()),
                }
            }
            Kind::Number { integer, minimum, maximum } => {
                let number = Decimal::parse(value).ok_or(Misfit::NoNumber)?;
                if *integer && !number.is_integer() {
                    return Err(Misfit::NoInteger);
                }
                beyond(&number, minimum.as_ref(), Ordering::Less, Misfit::TooSmall)?;
                beyond(&number, maximum.as_ref(), Ordering::Greater, Misfit::TooGreat)
            }
            Kind::Boolean if matches!(value, "true" | "false") => Ok(()),
            Kind::Boolean => Err(Misfit::NoBoolean),
            Kind::One(choices) => is_offered(choices, value),
            Kind::Some { choices, min_items, max_items } => {
                let value = Tree::parse(value).map_err(|_| Misfit::NoList)?;
                let Tree::Array(elements) = value else { return Err(Misfit::NoList) };
                let count = elements.len() as u64;
                at_least(count, *min_items, Misfit::TooFew)?;
                at_most(count, *max_items, Misfit::TooMany)?;
                elements.iter().try_for_each(|element| is_offered(choices, &element.to_string()))
            }
            Kind::Other => json::validate(value).map_err(|_| Misfit::NoJson),
        }
    }
}

fn at_least(count: u64, limit: Option<u64>, misfit: fn(u64) -> Misfit) -> Result<(), Misfit> {
    limit.filter(|limit| count < *limit).map_or(Ok(()), |limit| Err(misfit(limit)))
}

fn at_most(count: u64, limit: Option<u64>, misfit: fn(u64) -> Misfit) -> Result<(), Misfit> {
    limit.filter(|limit| *limit < count).map_or(Ok(()), |limit| Err(misfit(limit)))
}

/// Whether a number is on the wrong side of a bound.
fn beyond(
    number: &Decimal,
    bound: Option<&Bound>,
    wrong: Ordering,
    misfit: fn(String) -> Misfit,
) -> Result<(), Misfit> {
    match bound {
        Some(bound) if number.compare(&bound.value) == wrong => Err(misfit(bound.text.clone())),
        _ => Ok(()),
    }
}

fn is_offered(choices: &[Choice], value: &str) -> Result<(), Misfit> {
    // The same text can be written with other escapes.
    let value = scan::unescape(value).map_or_else(|| value.to_owned(), |text| json::string(&text));
    match choices.iter().any(|choice| choice.value == value) {
        true => Ok(()),
        false => Err(no_choice(choices)),
    }
}

/// The choice that a text means: its value counts before its label, and case only where it must.
fn meant<'c>(choices: &'c [Choice], text: &str) -> Result<&'c Choice, Misfit> {
    let text = text.trim();
    let (quoted, lower) = (json::string(text), text.to_lowercase());
    let find = |is_it: &dyn Fn(&Choice) -> bool| choices.iter().find(|choice| is_it(choice));
    find(&|choice| choice.value == quoted || choice.value == text)
        .or_else(|| find(&|choice| choice.label == text))
        .or_else(|| find(&|choice| choice.label.to_lowercase() == lower))
        .ok_or_else(|| no_choice(choices))
}

fn no_choice(choices: &[Choice]) -> Misfit {
    Misfit::NoChoice(choices.iter().map(|choice| choice.label.clone()).collect())
}
