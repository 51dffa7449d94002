//! Arguments that are described only to the process that uses them.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

/// The arguments of a subcommand. Describing those of all subcommands was a tenth of the instructions of an empty run.
pub(crate) struct Lazy<T>(pub(crate) T);

impl<T: FromArgMatches> FromArgMatches for Lazy<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for Lazy<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| keeping_about(command, T::augment_args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(|command| keeping_about(command, T::augment_args_for_update))
    }
}

impl<T: Subcommand> Subcommand for Lazy<T> {
    fn augment_subcommands(command: Command) -> Command {
        command.defer(|command| keeping_about(command, T::augment_subcommands))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        command.defer(|command| keeping_about(command, T::augment_subcommands_for_update))
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}

/// Describes a command and keeps what it says about itself: the doc comments of types in it would take its place.
fn keeping_about(command: Command, describe: fn(Command) -> Command) -> Command {
    let about = command.get_about().cloned().unwrap_or_default();
    describe(command).about(about)
}
