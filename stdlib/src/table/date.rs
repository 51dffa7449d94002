//! Dates. A moment is an int, the milliseconds since 1970, so that scripts compare moments, subtract them and add durations to
//! them; the calendar and the zones are those of `jiff`.
use base::clock::Clock;

use crate::here;
use jiff::civil::{Time, Weekday};
use jiff::fmt::strtime::BrokenDownTime;
use jiff::fmt::temporal::{DateTimePrinter, Pieces};
use jiff::fmt::{rfc2822, strtime};
use jiff::tz::{TimeZone, db};
use jiff::{Span, Timestamp, Unit, ZonedDateTime};
use lang::builtins::args;
use lang::diagnostic::nearest;
use lang::value::{Dict, Str, Value, article, inspect};
use lang::vm::{Cx, Raise, RunCode};

lang::builtins! { "" =>
    /// Returns the present moment: an int, the milliseconds since 1970 in UTC. Moments are compared and subtracted as ints, and a
    /// duration can be added: `now() + 2h`.
    ///
    /// ```harn
    /// mock_time(date_parse("2025-01-31 12:00"))
    /// date_format(now() + 2h) // => "2025-01-31T14:00:00Z"
    /// ```
    plain "now() -> int" now;
    /// Returns the date of today as text: `2025-01-31`. The zone is UTC, the name of another one, or `local`.
    ///
    /// ```harn
    /// mock_time(date_parse("2025-01-31 23:30"))
    /// today() // => "2025-01-31"
    /// today("Europe/Berlin") // => "2025-02-01"
    /// ```
    plain "today(zone: string = \"UTC\") -> string" today;
    /// Parses a date: ISO 8601, RFC 3339 or RFC 2822, or text of a format of strftime. Returns the moment. Text without an offset is
    /// a time of the zone.
    ///
    /// ```harn
    /// date_parse("1970-01-02") // => 86400000
    /// date_parse("31.12.1970 18:30", "%d.%m.%Y %H:%M", "Europe/Berlin") // => 31512600000
    /// date_parse("2025-13-01") // => error: cannot parse "2025-13-01" as a date: the month must be 1 to 12
    /// ```
    plain "date_parse(text: string, format: string? = nil, zone: string = \"UTC\") -> int" date_parse;
    /// Formats a moment, or the text of a date: by RFC 3339, by RFC 2822 (`rfc2822`), or by a format of strftime.
    ///
    /// ```harn
    /// date_format(0) // => "1970-01-01T00:00:00Z"
    /// date_format("2025-01-31", "%A, %-d %B %Y") // => "Friday, 31 January 2025"
    /// date_format("2025-07-01T12:00Z", "%H:%M %Z", "America/New_York") // => "08:00 EDT"
    /// ```
    plain "date_format(date: int | string, format: string? = nil, zone: string = \"UTC\") -> string" date_format;
    /// Adds a duration to a date, or a dict of `years months weeks days hours minutes seconds ms`. Returns the moment. Years to days
    /// go by the calendar of the zone; a day that a month lacks becomes its last one.
    ///
    /// ```harn
    /// date_format(date_add("2025-01-31", {months: 1})) // => "2025-02-28T00:00:00Z"
    /// date_format(date_add("2025-01-31", 36h), "%F %R") // => "2025-02-01 12:00"
    /// date_format(date_add("2025-03-01", {days: -1}), "%F") // => "2025-02-28"
    /// ```
    plain "date_add(date: int | string, amount: int | {years?: int, months?: int, weeks?: int, days?: int, hours?: int, minutes?: int, seconds?: int, ms?: int}, zone: string = \"UTC\") -> int" date_add;
    /// Returns the time from one date to another, negative if the second is earlier: as a duration, or as a number of whole units
    /// `seconds minutes hours days weeks months years`.
    ///
    /// ```harn
    /// date_diff("2025-01-01", "2025-03-01", "days") // => 59
    /// date_diff("2025-01-31", "2025-03-30", "months") // => 1
    /// duration_format(date_diff("2025-01-01T09:00", "2025-01-01T10:30")) // => "1h 30m"
    /// ```
    plain "date_diff(start: int | string, end: int | string, unit: \"ms\" | \"seconds\" | \"minutes\" | \"hours\" | \"days\" | \"weeks\" | \"months\" | \"years\" = \"ms\", zone: string = \"UTC\") -> int" date_diff;
    /// Returns the parts of a date: `{year, month, day, hour, minute, second, ms, weekday, day_of_year, week, zone, offset}`. The week
    /// is that of ISO 8601, the offset is in seconds.
    ///
    /// ```harn
    /// let d = date_parts("2025-01-31T12:30", "UTC")
    /// [d.year, d.month, d.day, d.weekday, d.week] // => [2025, 1, 31, "friday", 5]
    /// ```
    plain "date_parts(date: int | string, zone: string = \"UTC\") -> {year: int, month: int, day: int, hour: int, minute: int, second: int, ms: int, weekday: string, day_of_year: int, week: int, zone: string, offset: int}" date_parts;
    /// Returns the moment at which the unit begins that contains a date. A week begins on Monday.
    ///
    /// ```harn
    /// date_format(date_start("2025-01-31T12:30", "month"), "%F %R") // => "2025-01-01 00:00"
    /// ```
    plain "date_start(date: int | string, unit: \"minute\" | \"hour\" | \"day\" | \"week\" | \"month\" | \"year\", zone: string = \"UTC\") -> int" date_start;
    /// Returns the day of the week in small letters.
    ///
    /// ```harn
    /// weekday("2025-01-31") // => "friday"
    /// ```
    plain "weekday(date: int | string, zone: string = \"UTC\") -> string" weekday;
}

/// Bytes of the longest text of a date, and of the longest format.
const LONGEST: usize = 1000;

/// The zone whose rules are those of the machine.
const LOCAL: &str = "local";

fn invalid(argument: usize, message: String) -> Box<Raise> {
    Raise::error(RunCode::Value, message).about(argument, "")
}

/// The last words of an error of `jiff`: those before it name what was being read.
fn reason(error: &jiff::Error) -> String {
    let text = error.to_string();
    text.rsplit(": ").next().unwrap_or_default().to_owned()
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("\"{}…\"", &text[..at]),
        None => format!("\"{text}\""),
    }
}

fn zone(cx: &Cx<'_>, args: &[Value], i: usize) -> Result<TimeZone, Box<Raise>> {
    let Some(name) = args::opt_str(args, i)? else { return Ok(TimeZone::UTC) };
    match name.as_str() {
        "UTC" | "utc" | "Z" => return Ok(TimeZone::UTC),
        // A run with a clock of its own is the same on each machine.
        LOCAL if !here::world(cx)?.clock.follows_system() => return Ok(TimeZone::UTC),
        LOCAL => return Ok(TimeZone::try_system().unwrap_or(TimeZone::UTC)),
        _ => {}
    }
    if name.starts_with(['+', '-'])
        && let Some(offset) = strtime::parse("%:z", name.as_str()).ok().and_then(|parsed| parsed.offset())
    {
        return Ok(TimeZone::fixed(offset));
    }
    if name.len() < LONGEST
        && let Ok(zone) = TimeZone::get(name)
    {
        return Ok(zone);
    }
    let raise = invalid(i, format!("unknown time zone {}", shown(name)));
    let names: Vec<String> = db().available().map(|name| name.as_str().to_owned()).collect();
    Err(match nearest(name, names.iter().map(String::as_str)) {
        Some(near) if name.len() < LONGEST => raise.help(format!("did you mean `{near}`?")),
        _ => raise.help("use `UTC`, `local`, an offset such as `+02:00`, or a name such as `Europe/Berlin`"),
    })
}

/// Parses a date in one of the usual forms.
fn parse(text: &str, zone: &TimeZone) -> Result<Timestamp, String> {
    let text = text.trim();
    let pieces = match Pieces::parse(text) {
        Ok(pieces) => pieces,
        Err(error) => return rfc2822::parse(text).map(|date| date.timestamp()).map_err(|_| in_words(text, &error)),
    };
    let local = pieces.date().to_datetime(pieces.time().unwrap_or(Time::midnight()));
    let own = match pieces.to_numeric_offset() {
        Some(offset) => Some(TimeZone::fixed(offset)),
        None => pieces.to_time_zone().map_err(|error| reason(&error))?,
    };
    let zone = own.unwrap_or_else(|| zone.clone());
    zone.to_timestamp(local).map_err(|error| reason(&error))
}

/// The reason why a text is not a date. The usual mistake is a number that no month or day has.
fn in_words(text: &str, error: &jiff::Error) -> String {
    let mut numbers = text.get(..10).unwrap_or_default().split('-').map(str::parse::<u8>);
    let number = |part: Option<Result<u8, _>>| part.and_then(Result::ok);
    let (_, month, day) = (numbers.next(), number(numbers.next()), number(numbers.next()));
    match (month, day) {
        (Some(month), Some(_)) if !(1..=12).contains(&month) => "the month must be 1 to 12".to_owned(),
        (Some(_), Some(day)) if !(1..=31).contains(&day) => "the day must be 1 to 31".to_owned(),
        (Some(_), Some(_)) if text.len() == 10 => "the month has no such day".to_owned(),
        _ => reason(error),
    }
}

fn not_a_date(argument: usize, text: &str, why: &str) -> Box<Raise> {
    invalid(argument, format!("cannot parse {} as a date: {why}", shown(text))).help(
        "write `2025-01-31`, `2025-01-31 12:30` or `2025-01-31T12:30:00+01:00`, or pass a format: \
         `date_parse(text, \"%d.%m.%Y\")`",
    )
}

fn text_of_date(args: &[Value], i: usize) -> Result<&str, Box<Raise>> {
    let text = args::str(args, i)?.as_str();
    if text.len() > LONGEST {
        return Err(not_a_date(i, text, "the text is too long"));
    }
    Ok(text)
}

fn format_of(args: &[Value], i: usize) -> Result<Option<&str>, Box<Raise>> {
    match args::opt_str(args, i)? {
        Some(format) if format.len() > LONGEST => Err(invalid(i, format!("format longer than {LONGEST} bytes"))),
        format => Ok(format.map(Str::as_str)),
    }
}

/// The moment of an argument: milliseconds, or the text of a date.
fn moment(args: &[Value], i: usize, zone: &TimeZone) -> Result<Timestamp, Box<Raise>> {
    match args.get(i) {
        Some(Value::Int(ms)) => Timestamp::from_millisecond(*ms)
            .map_err(|_| invalid(i, format!("{ms} is not a moment between the years -9999 and 9999"))),
        Some(Value::Str(_)) => {
            let text = text_of_date(args, i)?;
            parse(text, zone).map_err(|why| not_a_date(i, text, &why))
        }
        _ => Err(args::mismatch(args, i, "a moment or the text of a date")),
    }
}

fn zoned(cx: &Cx<'_>, args: &[Value], i: usize, of_zone: usize) -> Result<ZonedDateTime, Box<Raise>> {
    let zone = zone(cx, args, of_zone)?;
    Ok(moment(args, i, &zone)?.to_zoned_datetime(zone))
}

fn ms(at: Timestamp) -> Value {
    Value::Int(at.as_millisecond())
}

fn current(cx: &Cx<'_>) -> Result<Timestamp, Box<Raise>> {
    let now = i64::try_from(here::world(cx)?.clock.now_ms()).unwrap_or(i64::MAX);
    Ok(Timestamp::from_millisecond(now).unwrap_or(Timestamp::MAX))
}

fn now(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    current(cx).map(ms)
}

fn today(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let date = current(cx)?.to_zoned_datetime(zone(cx, args, 0)?).date();
    Ok(Value::from(date.to_string()))
}

fn date_parse(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let zone = zone(cx, args, 2)?;
    let text = text_of_date(args, 0)?;
    let Some(format) = format_of(args, 1)? else {
        return parse(text, &zone).map(ms).map_err(|why| not_a_date(0, text, &why));
    };
    let wrong = |error: jiff::Error| {
        invalid(
            0,
            format!("cannot parse {} as a date of the format {}: {}", shown(text), shown(format), reason(&error)),
        )
    };
    let parsed = BrokenDownTime::parse(format, text).map_err(wrong)?;
    if let Some(at) = parsed.timestamp() {
        return Ok(ms(at));
    }
    let time = if parsed.hour().is_some() { parsed.to_time().map_err(wrong)? } else { Time::midnight() };
    let local = parsed.to_date().map_err(wrong)?.to_datetime(time);
    let zone = match (parsed.offset(), parsed.iana_time_zone()) {
        (Some(offset), _) => TimeZone::fixed(offset),
        (None, Some(name)) => TimeZone::get(name).map_err(wrong)?,
        (None, None) => zone,
    };
    zone.to_timestamp(local).map(ms).map_err(wrong)
}

/// Prints whole seconds without a fraction.
fn rfc3339(date: &ZonedDateTime) -> String {
    let printer = DateTimePrinter::new();
    match date.offset().seconds() {
        0 => printer.timestamp_to_string(&date.timestamp()),
        _ => printer.timestamp_with_offset_to_string(&date.timestamp(), date.offset()),
    }
}

fn date_format(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let date = zoned(cx, args, 0, 2)?;
    let text = match format_of(args, 1)? {
        None | Some("rfc3339" | "iso8601" | "iso") => Ok(rfc3339(&date)),
        Some("rfc2822") => rfc2822::to_string(&date),
        Some(format) => BrokenDownTime::from(&date).to_string(format),
    };
    let wrong = |error: jiff::Error| {
        let format = args[1].as_str().unwrap_or_default();
        invalid(1, format!("invalid date format {}: {}", shown(format), reason(&error)))
            .help("use directives of strftime, such as `%Y-%m-%d %H:%M:%S`, and `%%` for `%`")
    };
    text.map(Value::from).map_err(wrong)
}

/// A part of a span: its key, and how it is set.
type SpanPart = (&'static str, fn(Span, i64) -> Result<Span, jiff::Error>);

/// The keys of an amount of time.
const AMOUNTS: [SpanPart; 8] = [
    ("years", Span::try_years),
    ("months", Span::try_months),
    ("weeks", Span::try_weeks),
    ("days", Span::try_days),
    ("hours", Span::try_hours),
    ("minutes", Span::try_minutes),
    ("seconds", Span::try_seconds),
    ("ms", Span::try_milliseconds),
];

fn span(amount: &Dict) -> Result<Span, Box<Raise>> {
    let mut span = Span::new();
    for (key, value) in amount.iter() {
        let Some((_, set)) = AMOUNTS.iter().find(|(name, _)| *name == key.as_str()) else {
            let keys = AMOUNTS.map(|(name, _)| name);
            let raise = invalid(1, format!("unknown unit of time {}", shown(key)));
            return Err(match nearest(key, keys) {
                Some(near) => raise.help(format!("did you mean `{near}`?")),
                None => raise.help(format!("use {}", keys.join(", "))),
            });
        };
        let Value::Int(n) = value else {
            return Err(invalid(1, format!("expected an int for `{key}`, found {}", article(value.type_name()))));
        };
        span = set(span, *n).map_err(|_| invalid(1, format!("{n} {key} are too many")))?;
    }
    Ok(span)
}

fn date_add(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let date = zoned(cx, args, 0, 2)?;
    let span = match &args[1] {
        Value::Int(ms) => Span::new().try_milliseconds(*ms).map_err(|_| too_far()),
        Value::Dict(amount) => span(&amount.dict),
        _ => Err(args::mismatch(args, 1, "a duration or a dict of units")),
    }?;
    date.checked_add(span).map(|date| ms(date.timestamp())).map_err(|_| too_far())
}

fn too_far() -> Box<Raise> {
    invalid(1, "the date would not be between the years -9999 and 9999".to_owned())
}

/// Returns the unit that an argument names, in the singular or plural.
fn unit(args: &[Value], i: usize) -> Result<Unit, Box<Raise>> {
    let name = args::str(args, i)?;
    let singular = name.strip_suffix('s').unwrap_or(name);
    Ok(match if name.as_str() == "ms" { "millisecond" } else { singular } {
        "millisecond" => Unit::Millisecond,
        "second" => Unit::Second,
        "minute" => Unit::Minute,
        "hour" => Unit::Hour,
        "day" => Unit::Day,
        "week" => Unit::Week,
        "month" => Unit::Month,
        "year" => Unit::Year,
        _ => {
            return Err(invalid(i, format!("unknown unit of time {}", shown(name)))
                .help("use `seconds`, `minutes`, `hours`, `days`, `weeks`, `months` or `years`"));
        }
    })
}

fn date_diff(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (from, to) = (zoned(cx, args, 0, 3)?, zoned(cx, args, 1, 3)?);
    let unit = if args[2].is_nil() { Unit::Millisecond } else { unit(args, 2)? };
    let ms = to.timestamp().as_millisecond() - from.timestamp().as_millisecond();
    let calendar = |unit| from.until((unit, &to)).map_err(|error| invalid(1, reason(&error)));
    Ok(Value::Int(match unit {
        Unit::Year => i64::from(calendar(unit)?.get_years()),
        Unit::Month => i64::from(calendar(unit)?.get_months()),
        Unit::Week => i64::from(calendar(unit)?.get_weeks()),
        Unit::Day => i64::from(calendar(unit)?.get_days()),
        Unit::Hour => ms / 3_600_000,
        Unit::Minute => ms / 60_000,
        Unit::Second => ms / 1000,
        _ => ms,
    }))
}

fn name_of(day: Weekday) -> &'static str {
    match day {
        Weekday::Monday => "monday",
        Weekday::Tuesday => "tuesday",
        Weekday::Wednesday => "wednesday",
        Weekday::Thursday => "thursday",
        Weekday::Friday => "friday",
        Weekday::Saturday => "saturday",
        Weekday::Sunday => "sunday",
    }
}

fn date_parts(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let date = zoned(cx, args, 0, 1)?;
    let int = |n: i16| Value::Int(i64::from(n));
    let zone = date.time_zone().iana_name().map_or_else(|| date.offset().to_string(), ToOwned::to_owned);
    Ok(Value::record([
        ("year", int(date.year())),
        ("month", int(date.month().into())),
        ("day", int(date.day().into())),
        ("hour", int(date.hour().into())),
        ("minute", int(date.minute().into())),
        ("second", int(date.second().into())),
        ("ms", int(date.millisecond())),
        ("weekday", Value::str(name_of(date.weekday()))),
        ("day_of_year", int(date.day_of_year())),
        ("week", int(date.iso_week_date().week().into())),
        ("zone", Value::from(zone)),
        ("offset", Value::Int(i64::from(date.offset().seconds()))),
    ]))
}

fn date_start(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (date, unit) = (zoned(cx, args, 0, 2)?, unit(args, 1)?);
    let to_monday = i64::from(date.weekday().to_monday_zero_offset());
    let start = match unit {
        Unit::Year => date.first_of_year().and_then(|date| date.start_of_day()),
        Unit::Month => date.first_of_month().and_then(|date| date.start_of_day()),
        Unit::Week => date.checked_sub(Span::new().days(to_monday)).and_then(|date| date.start_of_day()),
        Unit::Day => date.start_of_day(),
        Unit::Hour => date.with().minute(0).second(0).subsec_nanosecond(0).build(),
        Unit::Minute => date.with().second(0).subsec_nanosecond(0).build(),
        _ => return Err(invalid(1, format!("unknown unit {}", inspect(&args[1])))),
    };
    start.map(|date| ms(date.timestamp())).map_err(|error| invalid(0, reason(&error)))
}

fn weekday(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::str(name_of(zoned(cx, args, 0, 1)?.weekday())))
}
