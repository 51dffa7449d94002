//! Measurement of the part of a request that a prompt cache can serve: the bytes that two consecutive requests share,
//! counted from the first.
//!
//! The request is measured as a JSON document in the order in which vendors read and cache it, in a vendor-neutral form:
//! `{"tools":[…],"system":"…","messages":[…]}`. Reminders appear where they are rendered: in the system text, before or
//! in the first messages, or after the last. The content of messages is written as blocks. Settings (temperature,
//! limits) and marks for caches are not part of the cached prefix and are not counted.
//!
//! The cost per turn is proportional to the new content: lengths of known messages are kept, and chunks that two
//! histories share are not visited.

use std::sync::Arc;

use base::data::{Data, text_json_len};

use crate::capabilities::Placement;
use crate::message::{Block, Content, Message, Messages, Role, ToolSpec};
use crate::reminder::slots::{AnchoredReminder, Rendered, RenderedReminder, RenderedRole};

use super::{Request, System, native_message};
use written::{json, length};

#[cfg(test)]
mod tests;
mod written;

const BEFORE_TOOLS: &str = r#"{"tools":"#;
const BEFORE_SYSTEM: &str = r#","system":""#;
const BEFORE_MESSAGES: &str = r#"","messages":["#;
const BEHIND: &str = "]}";

/// The size of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestSize {
    /// Size of the request, in bytes.
    pub total: u64,
    /// Bytes shared with the previous request, from the first on; `None` for the first request.
    pub shared: Option<u64>,
    /// Bytes of the history that both share and a cache cannot serve, because reminders before it have changed.
    pub rebilled: u64,
    /// For each of its reminders, whether a cache can serve it; empty if the route has no cache, and for the first
    /// request.
    pub cached: Vec<bool>,
}

/// A meter for the requests of one session, each compared with the previous one.
#[derive(Debug, Clone, Default)]
pub struct PrefixMeter {
    last: Option<Box<SentRequest>>,
}

impl PrefixMeter {
    /// Measures a request that is about to be sent.
    pub fn measure(&mut self, request: &Request) -> RequestSize {
        let mut last = self.last.take();
        let (history, _, native) = request.parted_history();
        let known = last.as_ref().map_or(0, |last| last.history.shared_with(&history));
        let mut ends = last.as_mut().map(|last| std::mem::take(&mut last.ends)).unwrap_or_default();
        ends.truncate(known);
        let sent = SentRequest::new(request, history, &native, last.as_deref(), ends);
        let shared = last.as_ref().map(|last| sent.shared_with(last, known));
        let mut measured = RequestSize { total: sent.total(), shared, rebilled: 0, cached: Vec::new() };
        if let (Some(last), Some(shared), true) = (&last, shared, request.reminders.is_cached) {
            measured.rebilled = sent.rebilled(last, shared, known);
            measured.cached = request.reminders.fired.iter().map(|fired| sent.serves(fired, last, shared)).collect();
        }
        self.last = match last {
            Some(mut place) => {
                *place = sent;
                Some(place)
            }
            None => Some(Box::new(sent)),
        };
        measured
    }
}

/// A request that was sent, with its lengths.
#[derive(Debug, Clone)]
struct SentRequest {
    system: Vec<SystemPiece>,
    tools: Arc<Vec<ToolSpec>>,
    tools_bytes: u64,
    /// Messages before the history.
    front: Vec<EncodedPiece>,
    history: Messages,
    /// Bytes of the history up to and including each message, each with the comma after it.
    ends: Vec<u64>,
    /// The message of the history into which reminders were merged.
    merged: Option<MergedMessage>,
    /// Messages after the history.
    back: Vec<EncodedPiece>,
    /// The system text without reminders.
    own_system: Arc<System>,
    /// The slots of its reminders.
    reminders: Arc<Rendered>,
}

/// A system text and its length in the document, without quotes. It is written only where two requests differ.
#[derive(Debug, Clone)]
struct SystemPiece {
    text: Arc<str>,
    bytes: usize,
}

/// A text and its form in the document.
#[derive(Debug, Clone)]
struct EncodedPiece {
    /// The text; `None` for pieces that are written again each time.
    text: Option<Arc<str>>,
    json: Arc<str>,
}

#[derive(Debug, Clone)]
struct MergedMessage {
    index: usize,
    of: Arc<Message>,
    blocks: Vec<Block>,
    json: Arc<str>,
}

/// A message in the list: a text of its own, or one of the history.
enum PrefixEntry<'a> {
    Own(&'a Arc<str>),
    History(usize),
}

impl SentRequest {
    /// Measures a request. `history` is the request's history as sent; `ends` are those of the messages it shares with
    /// the last request.
    fn new(
        request: &Request,
        history: Messages,
        native: &[Arc<str>],
        last: Option<&SentRequest>,
        mut ends: Vec<u64>,
    ) -> SentRequest {
        let sections = &request.reminders.system_sections;
        let known = last.map_or(&[][..], |last| last.system.as_slice());
        let parted = request.text_after_developer_messages().map(|_| request.system.without_after());
        let system = pieces(
            parted.as_ref().unwrap_or(request.system.as_ref()).pieces(sections),
            known,
            |piece| Some(&piece.text),
            |text| SystemPiece { text: text.clone(), bytes: unquoted_len(text) },
        );
        let tools = request.tools.clone();
        let tools_bytes = match last {
            Some(last) if Arc::ptr_eq(&last.tools, &tools) => last.tools_bytes,
            _ => tools_json(&tools).len() as u64,
        };
        // By index, because an iterator would visit all known messages.
        for index in ends.len()..history.len() {
            let before = ends.last().copied().unwrap_or(0);
            ends.push(before + length(&history[index]) + 1);
        }
        let mut sent = SentRequest {
            system,
            tools,
            tools_bytes,
            front: Vec::new(),
            history,
            ends,
            merged: None,
            back: Vec::new(),
            own_system: request.system.clone(),
            reminders: request.reminders.clone(),
        };
        sent.place_reminders(request, native, last);
        sent
    }

    /// Places reminders like [`Request::conversation`].
    fn place_reminders(&mut self, request: &Request, native: &[Arc<str>], last: Option<&SentRequest>) {
        let rendered = &request.reminders;
        let developer = |text: &Arc<str>| {
            let json = json(&Message::new(Role::Developer, text.clone())).into();
            EncodedPiece { text: Some(text.clone()), json }
        };
        let head = rendered.placement == Placement::Head;
        let known = last.map_or(&[][..], |last| if head { &last.front } else { &last.back });
        let after = request.text_after_developer_messages();
        let developers = rendered.developer_messages.iter().chain(&after);
        let mut around = pieces(developers, known, |piece| piece.text.as_ref(), developer);
        if !rendered.user_blocks.is_empty() {
            let blocks: Vec<Block> =
                rendered.user_blocks.iter().map(crate::reminder::slots::UserBlock::to_block).collect();
            let into = if head {
                self.history.iter().position(|message| message.role == Role::User)
            } else {
                self.history.last().filter(|m| m.role == Role::User).map(|_| self.history.len() - 1)
            };
            match into {
                Some(index) => self.merged = Some(self.merge(index, blocks, head, last)),
                None => {
                    let message = Message::new(Role::User, Content::Blocks(Arc::new(blocks)));
                    let piece = EncodedPiece { text: None, json: json(&message).into() };
                    around.insert(if head { around.len() } else { 0 }, piece);
                }
            }
        }
        *(if head { &mut self.front } else { &mut self.back }) = around;
        if !native.is_empty() {
            self.back.push(EncodedPiece { text: None, json: json(&native_message(native)).into() });
        }
    }

    fn merge(&self, index: usize, blocks: Vec<Block>, head: bool, last: Option<&SentRequest>) -> MergedMessage {
        let of = self.history[index].clone();
        let same = |old: &&MergedMessage| old.index == index && Arc::ptr_eq(&old.of, &of) && old.blocks == blocks;
        if let Some(old) = last.and_then(|last| last.merged.as_ref()).filter(same) {
            return old.clone();
        }
        let said = of.content.to_blocks();
        let all = if head { [blocks.clone(), said].concat() } else { [said, blocks.clone()].concat() };
        let message = Message { content: Content::Blocks(Arc::new(all)), ..of.as_ref().clone() };
        MergedMessage { index, of, blocks, json: json(&message).into() }
    }

    /// Returns the position of the system text.
    fn system_start(&self) -> u64 {
        (BEFORE_TOOLS.len() + BEFORE_SYSTEM.len()) as u64 + self.tools_bytes
    }

    /// Returns the position of the first message.
    fn messages_start(&self) -> u64 {
        self.system_start() + self.system_bytes() + BEFORE_MESSAGES.len() as u64
    }

    /// Returns the bytes of the known history that are not shared because reminders before it have changed.
    fn rebilled(&self, last: &SentRequest, shared: u64, known: usize) -> u64 {
        let same_rest = Arc::ptr_eq(&self.own_system, &last.own_system) || self.own_system == last.own_system;
        let front = self.front.iter().map(|piece| piece.json.len() as u64 + 1).sum::<u64>();
        // With the history merged into, its reminders are in its first message.
        let begin = self.messages_start() + front;
        if shared >= begin + self.end(known) || !same_rest || self.tools_bytes != last.tools_bytes {
            return 0;
        }
        let from = match &self.merged {
            Some(merged) if self.reminders.placement == Placement::Head => self.end(merged.index + 1),
            _ => 0,
        };
        let is_before_history = shared < begin + from.max(1);
        if is_before_history { self.end(known).saturating_sub(from) } else { 0 }
    }

    /// Returns whether the bytes that both requests share contain a reminder.
    fn serves(&self, fired: &RenderedReminder, last: &SentRequest, shared: u64) -> bool {
        let reminders = &self.reminders;
        if let Some(anchored) = reminders.anchored.iter().find(|anchored| anchored.id == fired.id) {
            let was_there = last.reminders.anchored.iter().any(|before| before == anchored);
            return was_there && self.serves_anchored(anchored, shared);
        }
        if reminders.placement == Placement::Tail || fired.rendered_role == RenderedRole::Native {
            return false;
        }
        match fired.rendered_role {
            RenderedRole::System => {
                let mut end = 0;
                let found = self.system.iter().enumerate().any(|(index, piece)| {
                    end += piece.bytes + if index > 0 { System::SEPARATOR.len() * 2 } else { 0 };
                    piece.text == fired.text
                });
                found && self.system_start() + end as u64 <= shared
            }
            RenderedRole::Developer => {
                let before = reminders.developer_messages.iter().take_while(|text| !Arc::ptr_eq(text, &fired.text));
                let pieces = self.front.iter().take(before.count() + 1);
                let end = pieces.map(|piece| piece.json.len() as u64 + 1).sum::<u64>();
                self.messages_start() + end <= shared + 1
            }
            _ => {
                let front = |count: usize| self.front.iter().take(count).map(|piece| piece.json.len() as u64 + 1).sum();
                // Without a message of the user, the blocks are the last one of those before the history.
                let (start, json) = match &self.merged {
                    Some(merged) => {
                        let before: u64 = front(self.front.len());
                        (before + self.end(merged.index), &merged.json)
                    }
                    None => match self.front.last() {
                        Some(own) => (front(self.front.len() - 1), &own.json),
                        None => return false,
                    },
                };
                end_of(&fired.text, json).is_some_and(|end| self.messages_start() + start + end <= shared)
            }
        }
    }

    /// Returns whether the bytes that both requests share contain a reminder that keeps its place.
    fn serves_anchored(&self, anchored: &AnchoredReminder, shared: u64) -> bool {
        let holds = |message: &Message| match &message.content {
            Content::Text(text) => Arc::ptr_eq(text, &anchored.text),
            Content::Blocks(blocks) => blocks
                .iter()
                .any(|block| matches!(block, Block::Text { text, .. } if Arc::ptr_eq(text, &anchored.text))),
        };
        // It is in the message before its place or after it, unless that message comes after everything else.
        let mut places = anchored.after.saturating_sub(1)..self.history.len();
        let Some(index) = places.find(|index| holds(&self.history[*index])) else { return false };
        let front = self.front.iter().map(|piece| piece.json.len() as u64 + 1).sum::<u64>();
        let start = self.messages_start() + front;
        // Such a message was followed by nothing before, and is by a comma now.
        if start + self.end(index + 1) <= shared + 1 {
            return true;
        }
        // Blocks that came after it may be gone.
        let json = match &self.merged {
            Some(merged) if merged.index == index => merged.json.clone(),
            _ => json(&self.history[index]).into(),
        };
        end_of(&anchored.text, &json).is_some_and(|end| start + self.end(index) + end <= shared)
    }

    fn total(&self) -> u64 {
        let lengths = |pieces: &[EncodedPiece]| pieces.iter().map(|piece| piece.json.len() as u64 + 1).sum::<u64>();
        let merged = self
            .merged
            .as_ref()
            .map_or(0, |merged| merged.json.len() as u64 + 1 - (self.end(merged.index + 1) - self.end(merged.index)));
        let messages = lengths(&self.front) + self.end(self.history.len()) + merged + lengths(&self.back);
        let frames = BEFORE_SYSTEM.len() + BEFORE_TOOLS.len() + BEFORE_MESSAGES.len() + BEHIND.len();
        frames as u64 + self.system_bytes() + self.tools_bytes + messages.saturating_sub(1)
    }

    fn system_bytes(&self) -> u64 {
        let texts: usize = self.system.iter().map(|piece| piece.bytes).sum();
        (texts + System::SEPARATOR.len() * 2 * self.system.len().saturating_sub(1)) as u64
    }

    /// Returns the bytes of the first `count` messages of the history, with a comma after each.
    fn end(&self, count: usize) -> u64 {
        count.checked_sub(1).and_then(|last| self.ends.get(last)).copied().unwrap_or(0)
    }

    fn shared_with(&self, last: &SentRequest, known: usize) -> u64 {
        if !Arc::ptr_eq(&self.tools, &last.tools) && self.tools != last.tools {
            return BEFORE_TOOLS.len() as u64 + common_bytes(&tools_json(&self.tools), &tools_json(&last.tools));
        }
        let (system, is_whole) = self.shared_system(last);
        let mut shared = self.system_start() + system;
        if !is_whole {
            return shared;
        }
        shared += BEFORE_MESSAGES.len() as u64;
        let mut place = 0;
        loop {
            match (self.entry(place), last.entry(place)) {
                (None, None) => return self.total(),
                // One list ends at a place at which the other has a comma.
                (None, Some(_)) | (Some(_), None) => return shared - u64::from(place > 0),
                (Some(PrefixEntry::History(index)), Some(PrefixEntry::History(other)))
                    if index == other && index < known =>
                {
                    let stop = [&self.merged, &last.merged].into_iter().flatten().map(|merged| merged.index);
                    let stop = stop.filter(|merged| *merged > index).min().unwrap_or(known).min(known);
                    shared += self.end(stop) - self.end(index);
                    place += stop - index;
                }
                (Some(mine), Some(its)) => {
                    let (mine, its) = (self.json(&mine), last.json(&its));
                    if mine != its {
                        return shared + common_bytes(&mine, &its);
                    }
                    shared += mine.len() as u64 + 1;
                    place += 1;
                }
            }
        }
    }

    /// Returns the number of bytes of system text that both share, and whether the texts are equal.
    fn shared_system(&self, last: &SentRequest) -> (u64, bool) {
        let same = |(mine, its): &(&SystemPiece, &SystemPiece)| mine.text == its.text;
        let count = self.system.iter().zip(&last.system).take_while(same).count();
        if count == self.system.len() && count == last.system.len() {
            return (self.system_bytes(), true);
        }
        let texts: usize = self.system.iter().take(count).map(|piece| piece.bytes).sum();
        let before = texts + System::SEPARATOR.len() * 2 * count.saturating_sub(1);
        // Usually a text has changed in its middle, and the rest need not be compared.
        if let (Some(mine), Some(its)) = (self.system.get(count), last.system.get(count))
            && let Some(common) = shared_json(&mine.text, &its.text)
        {
            let separator = if count > 0 { System::SEPARATOR.len() * 2 } else { 0 };
            return ((before + separator + common) as u64, false);
        }
        (before as u64 + common_bytes(&self.system_from(count), &last.system_from(count)), false)
    }

    /// Returns the system text from a piece on, with the closing quote.
    fn system_from(&self, index: usize) -> String {
        let mut json = String::new();
        for (index, piece) in self.system.iter().enumerate().skip(index) {
            if index > 0 {
                json.push_str(&unquoted(System::SEPARATOR));
            }
            json.push_str(&unquoted(&piece.text));
        }
        json.push('"');
        json
    }

    fn entry(&self, place: usize) -> Option<PrefixEntry<'_>> {
        if let Some(piece) = self.front.get(place) {
            return Some(PrefixEntry::Own(&piece.json));
        }
        let index = place - self.front.len();
        if index < self.history.len() {
            let merged = self.merged.as_ref().filter(|merged| merged.index == index);
            return Some(merged.map_or(PrefixEntry::History(index), |merged| PrefixEntry::Own(&merged.json)));
        }
        self.back.get(index - self.history.len()).map(|piece| PrefixEntry::Own(&piece.json))
    }

    fn json(&self, entry: &PrefixEntry<'_>) -> Arc<str> {
        match entry {
            PrefixEntry::Own(json) => (*json).clone(),
            PrefixEntry::History(index) => json(&self.history[*index]).into(),
        }
    }
}

/// Returns texts with their bytes in the document; a known piece is not written again. The texts are usually those of
/// the known pieces, of which a few are gone and others are new.
fn pieces<'a, P: Clone>(
    texts: impl IntoIterator<Item = &'a Arc<str>>,
    mut known: &[P],
    text_of: impl Fn(&P) -> Option<&Arc<str>>,
    write: impl Fn(&Arc<str>) -> P,
) -> Vec<P> {
    /// Number of known pieces that are compared with a text.
    const LOOK_AHEAD: usize = 8;
    let piece = |text: &'a Arc<str>| {
        let Some(place) = known.iter().take(LOOK_AHEAD).position(|known| text_of(known) == Some(text)) else {
            return write(text);
        };
        let piece = known[place].clone();
        known = &known[place + 1..];
        piece
    };
    texts.into_iter().map(piece).collect()
}

/// Returns a text as JSON, without quotes.
fn unquoted(text: &str) -> String {
    let mut json = Data::from(text).to_json();
    json.pop();
    json.split_off(1)
}

fn unquoted_len(text: &str) -> usize {
    text_json_len(text) - r#""""#.len()
}

/// Returns the number of bytes that two texts share as JSON, from the first; `None` if one is the beginning of the other.
fn shared_json(mine: &str, its: &str) -> Option<usize> {
    let common = mine.bytes().zip(its.bytes()).take_while(|(mine, its)| mine == its).count();
    // All bytes before are equal, so this is a boundary in both.
    let place = mine.floor_char_boundary(common);
    let next = |text: &str| text[place..].chars().next();
    let (mine_next, its_next) = (next(mine)?, next(its)?);
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\');
    if is_plain(mine_next) || is_plain(its_next) {
        return Some(unquoted_len(&mine[..place]));
    }
    // Two escapes may begin alike, and so may two characters of several bytes.
    let json = |c: char| unquoted(c.encode_utf8(&mut [0; 4]));
    let more = common_bytes(&json(mine_next), &json(its_next));
    Some(unquoted_len(&mine[..place]) + usize::try_from(more).ok()?)
}

fn tools_json(tools: &[ToolSpec]) -> String {
    let spec = |tool: &ToolSpec| {
        Data::dict([
            ("name", Data::from(&tool.name)),
            ("description", (&tool.description).into()),
            ("parameters", tool.parameters.clone()),
        ])
    };
    tools.iter().map(spec).collect::<Data>().to_json()
}

fn common_bytes(a: &str, b: &str) -> u64 {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count() as u64
}

/// Returns the position after a text in a message in the form of the document.
fn end_of(text: &Arc<str>, json: &str) -> Option<u64> {
    let text = unquoted(text);
    json.find(&text).map(|at| (at + text.len()) as u64)
}
