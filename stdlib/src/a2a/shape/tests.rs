//! - [`made`]: values of the model, made up.
//! - [`round_trip`]: what is written is read as it was, as far as the version can say it.
//! - [`examples`]: documents of each version, letter by letter.
//! - [`misfits`]: what does not fit, and how it is told.

mod examples;
mod made;
mod misfits;
mod round_trip;

use runtime::data::Data;

fn json(text: &str) -> Data {
    Data::from_json(text).unwrap()
}
