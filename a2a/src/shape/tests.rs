//! - [`made`]: values of the model, made up. [`reduced`]: what is left of one when it was said in a version.
//! - [`round_trip`]: what is written is read as it was, as far as the version can say it.
//! - [`examples`]: documents of each version, letter by letter.
//! - [`shape_errors`]: values that do not have their shape, and their error messages.

mod examples;
mod made;
mod reduced;
mod round_trip;
mod shape_errors;

use base::data::Data;

use crate as model;

fn json(text: &str) -> Data {
    Data::from_json(text).unwrap()
}
