//! Functions of Rust that a script can call.

use crate::convert::{ConversionError, FromValue, IntoValue, wrong_argument};
use lang::value::{HostBox, HostObject, Value};
use lang::vm::{Callable, Cx, Raise, RunCode, Wait};
use std::any::Any;
use std::fmt::Display;
use std::marker::PhantomData;

/// A closure with typed parameters that [`Engine::register`](crate::Engine::register) accepts.
///
/// Implemented for closures of up to six parameters that implement [`FromValue`]; they return a value that implements
/// [`IntoValue`], or a `Result` with one. `Args` is the tuple of the parameters' types.
pub trait Function<Args>: 'static {
    /// The number of parameters of the function.
    const PARAMETERS: usize;

    /// Converts the arguments and calls the function. Missing arguments are `nil`.
    ///
    /// # Errors
    /// An argument does not fit its parameter (with the argument's index), or the function failed (without).
    fn call(&self, args: &[Value]) -> Result<Value, (Option<usize>, String)>;
}

/// The result of a registered function: a value, or a `Result` whose error the script can catch.
pub trait IntoOutcome {
    /// Converts the result.
    ///
    /// # Errors
    /// The message of the error.
    fn into_outcome(self) -> Result<Value, String>;
}

impl<T: IntoValue> IntoOutcome for T {
    fn into_outcome(self) -> Result<Value, String> {
        Ok(self.into_value())
    }
}

impl<T: IntoValue, E: Display> IntoOutcome for Result<T, E> {
    fn into_outcome(self) -> Result<Value, String> {
        self.map(T::into_value).map_err(|error| error.to_string())
    }
}

fn argument<T: FromValue>(args: &[Value], index: usize) -> Result<T, (Option<usize>, String)> {
    let wrong = |error: ConversionError| (Some(index), error.to_string());
    T::from_value(args.get(index).unwrap_or(&Value::Nil)).map_err(wrong)
}

macro_rules! functions {
    ($(($count:literal $($name:ident $index:tt)*))*) => {$(
        impl<Func, Ret, $($name),*> Function<($($name,)*)> for Func
        where
            Func: Fn($($name),*) -> Ret + 'static,
            Ret: IntoOutcome,
            $($name: FromValue),*
        {
            const PARAMETERS: usize = $count;

            fn call(&self, args: &[Value]) -> Result<Value, (Option<usize>, String)> {
                let _ = args;
                self($(argument::<$name>(args, $index)?),*).into_outcome().map_err(|message| (None, message))
            }
        }
    )*};
}

functions! {
    (0)
    (1 A 0)
    (2 A 0 B 1)
    (3 A 0 B 1 C 2)
    (4 A 0 B 1 C 2 D 3)
    (5 A 0 B 1 C 2 D 3 E 4)
    (6 A 0 B 1 C 2 D 3 E 4 F 5)
}

/// A registered function as a value of a script.
struct Registered<F, Args> {
    name: String,
    function: F,
    args: PhantomData<fn(Args)>,
}

/// The value by which a script calls the function.
pub(crate) fn value<Args: 'static, F: Function<Args>>(name: &str, function: F) -> Value {
    HostBox::value(Registered { name: name.to_owned(), function, args: PhantomData })
}

impl<Args: 'static, F: Function<Args>> HostObject for Registered<F, Args> {
    fn type_name(&self) -> &'static str {
        "function"
    }

    fn callable(&self) -> Option<&dyn Callable> {
        Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<Args: 'static, F: Function<Args>> Callable for Registered<F, Args> {
    fn parameters(&self) -> Option<usize> {
        Some(F::PARAMETERS)
    }

    fn call(&self, _: &mut Cx<'_>, args: Vec<Value>) -> Result<Wait, Box<Raise>> {
        if args.len() > F::PARAMETERS {
            let (takes, given) = (F::PARAMETERS, args.len());
            let message = format!("`{}` takes at most {takes} arguments, found {given}", self.name);
            return Err(Raise::error(lang::check::CheckCode::Arity, message));
        }
        match self.function.call(&args) {
            Ok(value) => Ok(Wait::ready(Ok(value))),
            Err((None, message)) => Err(Raise::error(RunCode::Outside, format!("`{}` failed: {message}", self.name))),
            Err((Some(index), message)) => {
                let error = ConversionError::new(message);
                let raise = Raise::error(lang::check::CheckCode::Type, wrong_argument(&self.name, index, &error));
                Err(raise.about(index, "wrong type"))
            }
        }
    }
}
