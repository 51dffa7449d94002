use super::*;
use std::task::Context;

fn poll<T>(future: &mut (impl Future<Output = T> + Unpin)) -> Poll<T> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn what_came_passes_after_sleepers_of_its_time_and_before_later_ones() {
    let clock = Rc::new(RunClock::replayed(1_000, false));
    let gate = Gate::new(&clock);
    let (mut early, mut late) = (clock.sleep_until(1_010), clock.sleep_until(1_020));
    let mut came = Box::pin(gate.at(10));
    assert!(poll(&mut came).is_pending() && poll(&mut late).is_pending() && poll(&mut early).is_pending());
    assert_eq!((clock.idle(true), clock.now_ms()), (Idle::Moved, 1_010));
    assert!(poll(&mut early).is_ready() && poll(&mut came).is_pending(), "the sleeper has its turn first");
    assert_eq!((clock.idle(true), clock.now_ms()), (Idle::Moved, 1_010));
    assert!(poll(&mut came).is_ready() && poll(&mut late).is_pending());
    assert_eq!((clock.idle(true), clock.now_ms()), (Idle::Moved, 1_020));
    assert!(poll(&mut late).is_ready());
}

#[test]
fn who_has_passed_stays_before_what_comes_later_although_it_was_asked_before() {
    let clock = Rc::new(RunClock::fixed());
    let (first, second) = (Gate::new(&clock), Gate::new(&clock));
    let mut two = Box::pin(second.arrived());
    assert!(poll(&mut two).is_pending());
    assert_eq!(clock.idle(true), Idle::Moved);
    assert_eq!(poll(&mut two), Poll::Ready(0));
    let mut one = Box::pin(first.arrived());
    assert!(poll(&mut one).is_pending());
    assert_eq!(clock.idle(true), Idle::Moved);
    assert_eq!(poll(&mut one), Poll::Ready(1), "by the record it comes after the second");
}

#[test]
fn pieces_of_one_answer_may_come_at_one_time() {
    let clock = Rc::new(RunClock::fixed());
    let gate = Gate::new(&clock);
    for _ in 0..3 {
        let mut piece = Box::pin(gate.arrived());
        assert!(poll(&mut piece).is_pending());
        assert_eq!(clock.idle(true), Idle::Moved);
        assert_eq!(poll(&mut piece), Poll::Ready(0));
    }
}

#[test]
fn a_stepped_clock_does_not_move_before_something_is_due() {
    let clock = Rc::new(RunClock::stepped(5_000));
    let started = clock.now_ms();
    let gate = Gate::new(&clock);
    let mut came = Box::pin(gate.arrived());
    assert_eq!(clock.idle(false), Idle::Never);
    assert!(poll(&mut came).is_pending());
    assert_eq!(clock.idle(true), Idle::Moved);
    let Poll::Ready(after) = poll(&mut came) else { panic!("it was let go") };
    assert_eq!(clock.now_ms(), started + after, "time moved to the moment of the answer and no further");
}

#[test]
fn unmocked_time_goes_on_where_it_stood() {
    let clock = RunClock::fixed();
    let before = clock.now_ms();
    clock.mock(5);
    assert!(clock.advance(7) && clock.now_ms() == 12);
    clock.unmock();
    assert_eq!(clock.now_ms(), before);
    assert!(clock.advance(1), "a seeded run may be moved");
    assert!(!RunClock::stepped(5_000).advance(1) && !RunClock::system().advance(1));
}
