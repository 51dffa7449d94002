//! [`Pages`]: the items of an answer that comes in several pages, as a stream.

use super::request::HttpRequest;
use crate::codes::SystemCode;
use crate::options::HttpPageOptions;
use crate::values::{ItemSource, NextItem};
use crate::world::World;
use lang::builtins::parse_json;
use lang::diagnostic::nearest;
use lang::value::{Value, article, display};
use lang::vm::{Context, Cx, Isolate, Raise, RunCode};
use providers::web::{Method, Reply, Url};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};
use std::sync::Arc;

/// The items of pages, asked for when they are needed.
pub(crate) struct Pages {
    world: Rc<World>,
    /// The run that pays for the pages; a value does not keep it.
    isolate: Weak<Isolate>,
    context: Rc<Context>,
    /// The request of the next page; none after the last.
    next: Option<HttpRequest>,
    way: PageWay,
    /// The field with the items.
    items: Option<Arc<str>>,
    /// The items of the page that have not been read.
    waiting: VecDeque<Value>,
    /// The error after these items.
    failed: Option<Box<Raise>>,
    /// The pages so far, and the most.
    count: u64,
    most: u64,
}

/// A way to the next page.
enum PageWay {
    /// The header `link`.
    Link,
    /// A field of the page, and the name of its value in the query.
    Cursor { field: Arc<str>, name: Arc<str> },
    /// A number in the query.
    Number { name: Arc<str>, at: u64 },
}

impl Pages {
    /// Creates the stream of the items at a URL.
    pub(crate) fn new(
        cx: &Cx<'_>,
        world: Rc<World>,
        url: String,
        options: HttpPageOptions,
    ) -> Result<Self, Box<Raise>> {
        let HttpPageOptions { base, items, cursor, cursor_param, page, first_page, max_pages } = options;
        let first = HttpRequest::new(Method::Get, url, Vec::new(), base);
        let way = match (cursor, page) {
            (Some(_), Some(_)) => {
                return Err(Raise::error(RunCode::Value, "`cursor` and `page` cannot be used together"));
            }
            (Some(field), None) => PageWay::Cursor { field, name: cursor_param },
            (None, Some(name)) => PageWay::Number { name, at: first_page },
            (None, None) => PageWay::Link,
        };
        let next = Some(match &way {
            PageWay::Number { name, at } => with_value(&first, name, &at.to_string())?,
            _ => first,
        });
        let (isolate, context) = (Rc::downgrade(cx.isolate), cx.context.clone());
        Ok(Self {
            world,
            isolate,
            context,
            next,
            way,
            items,
            waiting: VecDeque::new(),
            failed: None,
            count: 0,
            most: max_pages,
        })
    }

    /// Asks for the next page and takes its items.
    async fn read_page(&mut self, request: &HttpRequest) -> Result<Option<HttpRequest>, Box<Raise>> {
        let url = &request.question.url;
        if self.count == self.most {
            return Err(Raise::error(SystemCode::Pages, format!("more than {} pages", self.most))
                .field("url", url.as_str())
                .help("raise the option `max_pages`, or take fewer items: `http_paginate(…).take(100)`"));
        }
        let reply = request.reply(&self.world).await?;
        self.count += 1;
        if !(200..300).contains(&reply.status) {
            return Err(page_error(url, format!("page {} has the status {}", self.count, reply.status))
                .field("status", i64::from(reply.status)));
        }
        if let Some(isolate) = self.isolate.upgrade() {
            let cx = Cx { isolate: &isolate, context: &self.context };
            // Values are larger than their texts.
            cx.check_room(reply.body.len().saturating_mul(4))?;
            cx.charge(reply.body.len(), 4);
        }
        let text = std::str::from_utf8(&reply.body)
            .map_err(|_| page_error(url, format!("page {} is not UTF-8 text", self.count)))?;
        let page = parse_json(text)
            .map_err(|raise| page_error(url, format!("page {} is not JSON: {}", self.count, raise.message)))?;
        let items = self.items_of(url, &page)?;
        let is_empty = items.is_empty();
        self.waiting.extend(items);
        self.after(request, &reply, &page, is_empty)
    }

    fn items_of(&self, url: &str, page: &Value) -> Result<Vec<Value>, Box<Raise>> {
        let found = match &self.items {
            Some(path) => field(page, path),
            None => Some(page),
        };
        match (found, &self.items) {
            (Some(Value::List(items)), _) => Ok(items.items.clone()),
            (Some(Value::Nil) | None, Some(path)) => {
                let mut raise = page_error(url, format!("page {} has no field `{path}`", self.count));
                let keys = page.as_dict().map(|dict| dict.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>());
                if let Some(near) = nearest(path, keys.unwrap_or_default()) {
                    raise = raise.help(format!("did you mean `{near}`?"));
                }
                Err(raise)
            }
            (Some(other), Some(path)) => {
                let found = article(other.type_name());
                Err(page_error(url, format!("`{path}` of page {} must be a list, found {found}", self.count)))
            }
            (found, None) => {
                let kind = found.map_or("nil", Value::type_name);
                let lists = page.as_dict().map(|dict| dict.iter().filter(|(_, value)| value.as_list().is_some()));
                let lists: Vec<String> = lists.into_iter().flatten().map(|(key, _)| format!("`{key}`")).collect();
                let raise = page_error(url, format!("page {} must be a list, found {}", self.count, article(kind)));
                Err(match lists.is_empty() {
                    true => raise.help("name the field of the items with the option `items`"),
                    false => raise.help(format!(
                        "name the field of the items with the option `items`; lists are in {}",
                        lists.join(", ")
                    )),
                })
            }
        }
    }

    fn after(
        &mut self,
        request: &HttpRequest,
        reply: &Reply,
        page: &Value,
        is_empty: bool,
    ) -> Result<Option<HttpRequest>, Box<Raise>> {
        let url = &request.question.url;
        match &mut self.way {
            PageWay::Link => {
                match reply.headers.iter().filter(|(name, _)| name == "link").find_map(|(_, link)| next_link(link)) {
                    Some(link) => self.follow(request, link).map(Some),
                    None => Ok(None),
                }
            }
            PageWay::Number { .. } if is_empty => Ok(None),
            PageWay::Number { name, at } => {
                *at += 1;
                with_value(request, name, &at.to_string()).map(Some)
            }
            PageWay::Cursor { field: path, name } => {
                let cursor = match field(page, path) {
                    None | Some(Value::Nil | Value::Bool(false)) => return Ok(None),
                    Some(Value::Str(text)) if text.is_empty() => return Ok(None),
                    Some(value @ (Value::Str(_) | Value::Int(_))) => display(value),
                    Some(other) => {
                        let found = article(other.type_name());
                        let message = format!("`{path}` of page {} must be a string, found {found}", self.count);
                        return Err(page_error(url, message));
                    }
                };
                let next =
                    if is_url(&cursor) { self.follow(request, &cursor)? } else { with_value(request, name, &cursor)? };
                if next.question.url == *url {
                    return Err(page_error(url, format!("page {} leads to itself", self.count)));
                }
                Ok(Some(next))
            }
        }
    }

    /// Returns the request of a link. The headers are meant for the origin that was asked.
    fn follow(&self, request: &HttpRequest, link: &str) -> Result<HttpRequest, Box<Raise>> {
        let url = &request.question.url;
        let wrong = |why: String| page_error(url, format!("page {} has an invalid link: {why}", self.count));
        let from = Url::parse(url).map_err(|error| wrong(error.to_string()))?;
        let to = from.join(link).map_err(|error| wrong(error.to_string()))?;
        if to.origin() != from.origin() {
            return Err(wrong(format!("`{link}` is at another origin")));
        }
        if to == from {
            return Err(page_error(url, format!("page {} leads to itself", self.count)));
        }
        Ok(request.to(to.into()))
    }
}

impl ItemSource for Pages {
    fn ready(&mut self) -> Option<NextItem> {
        if let Some(item) = self.waiting.pop_front() {
            return Some(Ok(Some(item)));
        }
        if let Some(raise) = self.failed.take() {
            return Some(Err(raise));
        }
        self.next.is_none().then_some(Ok(None))
    }

    async fn next(&mut self) -> NextItem {
        loop {
            if let Some(next) = self.ready() {
                return next;
            }
            // It stays until its answer was taken, so that a wait that is given up can be begun anew.
            let Some(request) = self.next.clone() else { return Ok(None) };
            match self.read_page(&request).await {
                Ok(next) => self.next = next,
                Err(raise) => (self.next, self.failed) = (None, Some(raise)),
            }
        }
    }
}

fn page_error(url: &str, message: String) -> Box<Raise> {
    Raise::error(SystemCode::Pages, message).field("url", url)
}

/// Returns the field of a path such as `meta.next`.
fn field<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, key| value.as_dict()?.get_str(key))
}

/// Returns a request with a value in its query, in place of the one that was there.
fn with_value(request: &HttpRequest, name: &str, value: &str) -> Result<HttpRequest, Box<Raise>> {
    let question = &request.question;
    let url = question.checked_url().map_err(|failure| super::request::failed(question, &failure))?;
    let mut changed = url.clone();
    let others = url.query_pairs().filter(|(key, _)| key != name);
    changed.query_pairs_mut().clear().extend_pairs(others).append_pair(name, value);
    Ok(request.to(changed.into()))
}

/// Returns whether a cursor is a URL, perhaps a relative one. Other cursors may begin with `/`, too: they may be Base64.
fn is_url(cursor: &str) -> bool {
    let is_relative = cursor.starts_with(['/', '?']) && cursor.contains('?');
    cursor.starts_with("http://") || cursor.starts_with("https://") || is_relative
}

/// Returns the target of a `link` header with the relation `next`, as RFC 8288 says.
fn next_link(header: &str) -> Option<&str> {
    let mut rest = header;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>')?;
        let (target, after) = (&rest[start + 1..end], &rest[end + 1..]);
        let until = after.find('<').unwrap_or(after.len());
        let is_next = after[..until].split([';', ',']).filter_map(|part| part.split_once('=')).any(|(key, value)| {
            let mut relations = value.trim().trim_matches('"').split_whitespace();
            key.trim().eq_ignore_ascii_case("rel") && relations.any(|relation| relation.eq_ignore_ascii_case("next"))
        });
        if is_next {
            return Some(target);
        }
        rest = &after[until..];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::next_link;

    #[test]
    fn the_next_link_of_a_header() {
        for (header, wanted) in [
            ("<https://a/?page=2>; rel=\"next\", <https://a/?page=9>; rel=\"last\"", Some("https://a/?page=2")),
            ("<https://a/1>; rel=prev, </2,3;x>; title=\"n\"; REL=\"last next\"", Some("/2,3;x")),
            ("<https://a/1>; rel=\"prev\"", None),
            ("<https://a/1", None),
            ("", None),
            ("<a>; rel=\"nextpage\"", None),
        ] {
            assert_eq!(next_link(header), wanted, "{header}");
        }
    }
}
