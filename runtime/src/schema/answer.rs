//! Reading a model's answer as the value that a schema requires.

use base::data::Data;

use super::compiled;

/// Reads an answer: JSON alone, or in a fence.
///
/// # Errors
/// Explains, in words for the model, why the answer is invalid JSON or does not fit.
pub fn read_answer(text: &str, schema: &Data) -> Result<Data, String> {
    let value = Data::from_json(unfenced(text)).map_err(|e| format!("it is {e}"))?;
    let schema = compiled(schema).map_err(|e| e.to_string())?;
    schema.check(&value, "the answer").map_err(|misfits| misfits.to_string())?;
    Ok(value)
}

/// Returns the message that asks a model for another answer, after one that does not fit.
#[must_use]
pub fn correction(why: &str) -> String {
    format!("The answer does not match the required schema: {why}. Answer with the corrected JSON only.")
}

/// Returns the text without a fence around it.
#[must_use]
pub fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inside = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    inside.and_then(|inside| inside.split_once('\n')).map_or(text, |(_, body)| body.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_read_alone_and_in_a_fence() {
        let schema =
            Data::from_json(r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#).unwrap();
        for text in [r#"{"n":1}"#, "```json\n{\"n\": 1}\n```", "  ```\n{\"n\":1}\n```\n"] {
            assert_eq!(read_answer(text, &schema).unwrap().get("n").as_int(), Some(1), "{text}");
        }
        assert_eq!(read_answer(r#"{"n":"x"}"#, &schema).unwrap_err(), "`n` must be integer, got \"x\"");
        assert!(read_answer("sure: {}", &schema).unwrap_err().starts_with("it is not valid JSON"));
    }
}
