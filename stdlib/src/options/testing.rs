//! Options of assertions.

use super::{Count, Entries, Int, Text};

options! {
    /// A reminder that prompts must have carried.
    ExpectedReminder {
        key: Text, "The `dedupe_key` of the reminder.";
        id: Text, "The id of the reminder.";
        tag: Text, "One of the tags of the reminder.";
        body: Text, "A part of the text of the reminder.";
        slot: Text, "The slot that carried the reminder.";
        turns: Count<usize>, "The exact number of prompts. Default: at least one.";
    }

    /// A tool call that the model must have made.
    ExpectedCall {
        times: Count<usize>, "The exact number of calls. Default: at least one.";
        arguments: Entries, "Entries that the arguments must have.";
    }

    /// A request to the mock model.
    ExpectedRequest {
        call: Int, "The number of the request, from 0; a negative one counts from the last. Default: any request.";
    }
}
