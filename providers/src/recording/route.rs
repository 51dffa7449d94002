//! The route that a run chose: it depends on the environment, which differs when the run is
//! replayed.

use base::data::Data;

use crate::model::{Provider, Route};
use runtime::budget::Quote;
use runtime::capabilities::Capabilities;
use runtime::model::{ModelError, Request};
use std::sync::Arc;

use super::outcome;
use super::secrets::Secrets;

/// The route of a call, as far as anybody else than the routes wants to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRoute {
    /// The provider.
    pub provider: Arc<str>,
    /// The model.
    pub model: Arc<str>,
    /// Its capabilities.
    pub capabilities: Capabilities,
    /// Whether it is the mock because no provider was named and no key is set.
    pub fell_back_to_mock: bool,
    /// The variable whose key goes to another server than the vendor's own, and that server's origin. A replay sends none.
    pub key_sent_elsewhere: Option<(String, String)>,
}

impl RecordedRoute {
    /// Returns the most that a request can use on this route.
    ///
    /// # Errors
    /// The provider is unknown, or the request cannot be written in the format of the route.
    pub fn quote(&self, request: &Request) -> Result<Quote, ModelError> {
        let provider = self.provider.parse::<Provider>()?;
        Route::without_server(provider, self.model.clone(), self.capabilities.clone()).quote(request)
    }
}

impl From<Route> for RecordedRoute {
    fn from(route: Route) -> RecordedRoute {
        let key_sent_elsewhere = route.key_sent_elsewhere().map(|(variable, origin)| (variable.to_owned(), origin));
        RecordedRoute {
            key_sent_elsewhere,
            provider: route.provider.as_str().into(),
            model: route.model,
            capabilities: route.capabilities,
            fell_back_to_mock: route.fell_back_to_mock,
        }
    }
}

/// The requested provider and model, if they were named.
pub(super) type RequestedRoute = (Option<Arc<str>>, Option<Arc<str>>);

pub(super) fn to_data(
    (provider, model): &RequestedRoute,
    chosen: &Result<RecordedRoute, ModelError>,
    secrets: &Secrets,
) -> Data {
    let asked = Data::dict_of_present([("provider", provider.clone().into()), ("model", model.clone().into())]);
    let found = match chosen {
        Ok(choice) => {
            let capabilities = serde_json::to_value(&choice.capabilities).unwrap_or_default();
            let route = Data::dict([
                ("provider", Data::from(&choice.provider)),
                ("model", Data::from(&choice.model)),
                ("capabilities", Data::from(capabilities)),
                ("fell_back_to_mock", choice.fell_back_to_mock.into()),
            ]);
            ("route", route)
        }
        Err(error) => ("error", secrets.hide(&error.to_data())),
    };
    Data::dict([("asked", asked), found])
}

pub(super) fn from_data(data: &Data) -> Option<(RequestedRoute, Result<RecordedRoute, ModelError>)> {
    data.get("asked").as_dict()?;
    let name = |key: &str| data.get("asked").get(key).as_shared_str();
    let wish = (name("provider"), name("model"));
    let route = data.get("route");
    if route.is_nil() {
        return Some((wish, Err(outcome::error_from_data(data.get("error"))?)));
    }
    let choice = RecordedRoute {
        provider: route.get("provider").as_shared_str()?,
        model: route.get("model").as_shared_str()?,
        capabilities: serde_json::from_value(route.get("capabilities").into()).ok()?,
        fell_back_to_mock: route.get("fell_back_to_mock").as_bool()?,
        key_sent_elsewhere: None,
    };
    Some((wish, Ok(choice)))
}
