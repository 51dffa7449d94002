//! Cookies as a value: it reads like a list of the cookies, and requests change it.

use crate::clock::RunClock;
use base::clock::Clock;
use lang::value::{HostObject, Value};
use providers::web::{Cookie, CookieJar};
use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

/// A jar of cookies.
pub(crate) struct CookieJarValue {
    pub(crate) jar: Rc<RefCell<CookieJar>>,
    /// Cookies end by it.
    pub(crate) clock: Rc<RunClock>,
}

impl CookieJarValue {
    fn list(&self) -> Vec<Value> {
        self.jar.borrow().cookies(self.clock.now_ms()).map(shown).collect()
    }
}

fn shown(cookie: &Cookie) -> Value {
    let expires = cookie.expires_ms.map_or(Value::Nil, |ms| Value::Int(i64::try_from(ms).unwrap_or(i64::MAX)));
    Value::record([
        ("name", Value::str(&cookie.name)),
        ("value", Value::str(&cookie.value)),
        ("domain", Value::str(&cookie.domain)),
        ("path", Value::str(&cookie.path)),
        ("expires", expires),
        ("secure", Value::Bool(cookie.secure)),
    ])
}

impl HostObject for CookieJarValue {
    fn type_name(&self) -> &'static str {
        "cookie_jar"
    }

    fn at(&self, index: i64) -> Option<Value> {
        self.list().into_iter().nth(usize::try_from(index).ok()?)
    }

    fn size(&self) -> Option<usize> {
        Some(self.jar.borrow().cookies(self.clock.now_ms()).count())
    }

    fn is_list(&self) -> bool {
        true
    }

    fn to_value(&self) -> Option<Value> {
        Some(Value::list(self.list()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
