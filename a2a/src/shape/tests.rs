//! - [`made`]: values of the model, made up. [`said`]: what is left of one when it was said in a version.
//! - [`round_trip`]: what is written is read as it was, as far as the version can say it.
//! - [`examples`]: documents of each version, letter by letter.
//! - [`misfits`]: what does not fit, and how it is told.

mod examples;
mod made;
mod misfits;
mod round_trip;
mod said;

use crate as model;
use runtime::data::Data;

fn json(text: &str) -> Data {
    Data::from_json(text).unwrap()
}
