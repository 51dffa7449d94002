//! Tests of reservations, sums and messages.

use base::codes::CodeRef;

use crate::capabilities::Price;
use crate::model::ModelErrorKind;
use crate::usage::Usage;

use super::*;

/// One dollar for a million tokens in, ten for a million out.
const PRICE: Price = Price {
    input: 1_000_000_000,
    output: 10_000_000_000,
    cache_read: 100_000_000,
    cache_write: 1_000_000_000,
    long: None,
    date: None,
};

fn quote(input_tokens: u64, output_tokens: u64) -> Quote {
    let (provider, model) = ("mock".into(), "m".into());
    let output_tokens = Some(output_tokens);
    Quote { provider, model, input_tokens, output_tokens, price: Some(PRICE), is_delegated: false }
}

fn usage(input_tokens: u64, output_tokens: u64) -> Usage {
    Usage { input_tokens, output_tokens, ..Usage::default() }
}

fn budget(limits: BudgetLimits, around: Option<&Rc<Budget>>) -> Rc<Budget> {
    Budget::new(BudgetOwner::Loop, limits, around.cloned(), Ledger::default())
}

fn usd_limit(nano_usd: u64) -> BudgetLimits {
    BudgetLimits { nano_usd: Some(nano_usd), ..BudgetLimits::default() }
}

fn turns(turns: u64) -> BudgetLimits {
    BudgetLimits { turns: Some(turns), ..BudgetLimits::default() }
}

fn charge(budget: &Rc<Budget>, quote: Quote) -> Result<Charge, BudgetError> {
    Charge::new(budget, quote, Purpose::Answer)
}

fn reserved(budget: &Budget) -> Amount {
    budget.state.borrow().reserved
}

#[test]
fn a_request_reserves_its_most_and_spends_what_it_used() {
    let budget = budget(usd_limit(3_000_000), None);
    let first = charge(&budget, quote(1_000, 100)).unwrap();
    assert_eq!(reserved(&budget), Amount { nano_usd: 2_000_000, tokens: 1_100, turns: 1 });
    assert_eq!(budget.ledger().spent(), Amount::default());
    first.settle(&usage(900, 10));
    assert_eq!(reserved(&budget), Amount::default());
    assert_eq!(budget.ledger().spent(), Amount { nano_usd: 1_000_000, tokens: 910, turns: 1 });
    drop(first);
    assert_eq!(budget.ledger().spent().turns, 1, "a charge is settled once");
    // The rest covers exactly the next one.
    assert!(charge(&budget, quote(1_000, 100)).is_ok());
}

#[test]
fn requests_side_by_side_cannot_spend_the_same_rest() {
    let budget = budget(usd_limit(5_000_000), None);
    let running: Vec<_> = (0..2).map(|_| charge(&budget, quote(1_000, 100)).unwrap()).collect();
    let before = (budget.ledger(), reserved(&budget));
    let error = charge(&budget, quote(1_000, 100)).unwrap_err();
    assert_eq!((budget.ledger(), reserved(&budget)), before, "a refused request changes nothing");
    assert_eq!(
        error.to_string(),
        "the budget of 0.005 USD (`budget` of the loop) does not cover the next request: `m` can use up to 0.002 USD, \
        and 0.001 USD are left; 0.004 USD are reserved for running requests; nothing is spent"
    );
    running.iter().for_each(|charge| charge.settle(&usage(100, 1)));
    assert!(charge(&budget, quote(1_000, 100)).is_ok());
}

#[test]
fn what_is_spent_counts_in_every_budget_around() {
    let run = Budget::new(BudgetOwner::Run, turns(3), None, Ledger::default());
    let parent = budget(usd_limit(1_000_000_000), Some(&run));
    let child = budget(BudgetLimits { tokens: Some(5_000), ..BudgetLimits::default() }, Some(&parent));
    assert!(child.limits(BudgetUnit::Usd) && child.limits(BudgetUnit::Turns) && !parent.limits(BudgetUnit::Tokens));
    charge(&child, quote(1_000, 100)).unwrap().settle(&usage(1_000, 100));
    charge(&parent, quote(1_000, 100)).unwrap().settle(&usage(1_000, 100));
    let sums = [&run, &parent, &child].map(|budget| budget.ledger().spent());
    assert_eq!(sums.map(|spent| spent.turns), [2, 2, 1]);
    assert_eq!(sums.map(|spent| spent.nano_usd), [4_000_000, 4_000_000, 2_000_000]);
    let BudgetError::Exhausted(error) = charge(&child, quote(4_000, 0)).unwrap_err() else { panic!("another error") };
    assert_eq!(
        (error.owner, error.unit, error.limit, error.spent),
        (BudgetOwner::Loop, BudgetUnit::Tokens, 5_000, 1_100)
    );
    charge(&child, quote(1, 1)).unwrap().settle(&usage(1, 1));
    let error = charge(&parent, quote(1, 1)).unwrap_err();
    assert_eq!(error.to_string(), "the budget of 3 turns (`--budget`) is used up; spent: 3 turns on `m`");
    assert_eq!(error.help(), "raise `turns` of `--budget`");
    assert_eq!(child.used_up(), Some(BudgetError::Exhausted(Box::new(Exhausted { next: None, ..*exhausted(error) }))));
}

fn exhausted(error: BudgetError) -> Box<Exhausted> {
    match error {
        BudgetError::Exhausted(exhausted) => exhausted,
        other => panic!("{other}"),
    }
}

#[test]
fn a_retry_is_another_turn_and_an_attempt_that_broke_off_counts_whole() {
    let budget = budget(BudgetLimits { turns: Some(3), nano_usd: Some(1_000_000_000), tokens: None }, None);
    let running = charge(&budget, quote(1_000, 100)).unwrap();
    running.attempt_failed(ModelErrorKind::RateLimit);
    assert_eq!(budget.ledger().spent(), Amount { nano_usd: 0, tokens: 0, turns: 1 });
    running.again("busy").unwrap();
    running.attempt_failed(ModelErrorKind::Connection);
    assert_eq!(budget.ledger().spent(), Amount { nano_usd: 2_000_000, tokens: 1_100, turns: 2 });
    assert_eq!(budget.ledger().rows()[0].unreported, 1);
    running.again("broken").unwrap();
    running.attempt_failed(ModelErrorKind::Server);
    let error = running.again("server out of order").unwrap_err().to_string();
    assert!(error.starts_with("the budget of 3 turns (`budget` of the loop) is used up"), "{error}");
    assert!(error.ends_with("; the attempt before failed: server out of order"), "{error}");
    drop(running);
    assert_eq!((budget.ledger().spent().turns, reserved(&budget)), (3, Amount::default()));
}

#[test]
fn a_request_that_is_given_up_counts_whole() {
    let budget = budget(usd_limit(1_000_000_000), None);
    drop(charge(&budget, quote(1_000, 100)).unwrap());
    assert_eq!(budget.ledger().spent(), Amount { nano_usd: 2_000_000, tokens: 1_100, turns: 1 });
    // So does one whose server reports nothing.
    charge(&budget, quote(1_000, 100)).unwrap().settle(&Usage::default());
    assert_eq!(budget.ledger().spent().nano_usd, 4_000_000);
    assert_eq!(budget.ledger().rows()[0].unreported, 2);
}

#[test]
fn unknown_prices_and_lengths_are_refused_only_where_a_limit_needs_them() {
    let unpriced = Quote { price: None, ..quote(10, 10) };
    let endless = Quote { output_tokens: None, ..quote(10, 10) };
    let tokens = BudgetLimits { tokens: Some(1_000), ..BudgetLimits::default() };
    let refused = |limits, quote: &Quote| charge(&budget(limits, None), quote.clone()).err();
    let named = || ("mock".into(), "m".into());
    let (provider, model) = named();
    assert_eq!(refused(usd_limit(1_000_000_000), &unpriced), Some(BudgetError::UnknownPrice { provider, model }));
    let (provider, model) = named();
    let error = BudgetError::UnknownLength { provider, model };
    assert_eq!(refused(usd_limit(1_000_000_000), &endless), Some(error.clone()));
    assert_eq!(refused(tokens, &endless), Some(error));
    assert_eq!(
        (refused(tokens, &unpriced), refused(turns(1), &endless), refused(turns(1), &unpriced)),
        (None, None, None)
    );
    // An unknown price does not count as 0.
    let budget = budget(turns(5), None);
    charge(&budget, unpriced).unwrap().settle(&usage(5, 5));
    assert!(!budget.ledger().is_cost_known());
    assert!(budget.to_data().get("spent").get("usd").is_nil());
    assert_eq!(budget.to_data().get("left").to_json(), r#"{"turns":4}"#);
}

#[test]
fn an_answer_of_a_script_counts_unless_the_script_asked_itself() {
    let budget = budget(turns(3), None);
    let delegated = || Quote { is_delegated: true, price: None, ..quote(10, 10) };
    charge(&budget, delegated()).unwrap().settle(&usage(7, 3));
    assert_eq!(budget.ledger().spent(), Amount { nano_usd: 0, tokens: 10, turns: 1 });
    let asking = charge(&budget, delegated()).unwrap();
    let inner = asking.inner.clone().unwrap();
    charge(&inner, quote(1, 1)).unwrap().settle(&usage(1, 1));
    asking.settle(&usage(7, 3));
    assert_eq!(budget.ledger().spent(), Amount { nano_usd: 11_000, tokens: 12, turns: 2 });
    charge(&budget, delegated()).unwrap().settle(&usage(0, 0));
    assert!(charge(&budget, delegated()).is_err());
}

#[test]
fn a_message_names_the_most_of_what_was_spent() {
    let budget = budget(usd_limit(10_000_000), None);
    for (model, purpose, count) in [
        ("big", Purpose::Answer, 2),
        ("small", Purpose::Compaction, 1),
        ("a", Purpose::Judge, 1),
        ("b", Purpose::Answer, 1),
        ("c", Purpose::Answer, 1),
        ("d", Purpose::Answer, 1),
    ] {
        for _ in 0..count {
            let quote = Quote { model: model.into(), ..quote(1_000, 0) };
            let used = usage(if model == "small" { 900 } else { 100 }, if model == "big" { 100 } else { 0 });
            Charge::new(&budget, quote, purpose).unwrap().settle(&used);
        }
    }
    assert_eq!(
        charge(&budget, quote(1_000_000, 0)).unwrap_err().to_string(),
        "the budget of 0.01 USD (`budget` of the loop) does not cover the next request: `m` can use up to 1.00 USD, and \
        0.0065 USD are left; spent: 0.0022 USD on `big` in 2 turns, 0.0009 USD on `small` (compaction) in 1 turn, \
        0.0001 USD on `a` (judge) in 1 turn, 0.0001 USD on `b` in 1 turn, 0.0002 USD on others"
    );
}

#[test]
fn sums_saturate() {
    let budget = budget(BudgetLimits { tokens: Some(u64::MAX), ..BudgetLimits::default() }, None);
    charge(&budget, quote(u64::MAX, u64::MAX)).unwrap().settle(&usage(u64::MAX, u64::MAX));
    assert_eq!(budget.ledger().spent().tokens, u64::MAX);
    assert!(budget.used_up().is_some());
}

#[test]
fn dollars_have_two_to_nine_decimals() {
    for (nano, text) in [
        (0, "0.00"),
        (500_000_000, "0.50"),
        (12_345_678_900, "12.3456789"),
        (1, "0.000000001"),
        (u64::MAX, "18446744073.709551615"),
    ] {
        assert_eq!(usd(nano), text);
    }
}

#[test]
fn a_ledger_is_kept_with_the_state_of_a_loop() {
    let budget = budget(turns(5), None);
    charge(&budget, quote(1, 1)).unwrap().settle(&usage(1, 1));
    let json = serde_json::to_string(&budget.ledger()).unwrap();
    let back: Ledger = serde_json::from_str(&json).unwrap();
    assert_eq!(back, budget.ledger());
    let again = Budget::new(BudgetOwner::Loop, turns(1), None, back);
    assert!(again.used_up().is_some());
    assert_eq!(CodeRef::from(BudgetCode::Exhausted).as_str(), "HARN-LLM-004");
}
