//! The commands. Each file holds one command's arguments and what it does.

mod api;
mod app;
mod asking;
mod attribute;
mod audience;
mod audit;
mod backup;
mod change_list;
mod channel;
mod completions;
mod console;
mod copy;
mod doctor;
mod events;
mod examples;
mod export;
mod exported_channel;
mod import;
mod list;
mod listing;
mod live;
mod location;
mod migrate;
mod nodes;
mod noun;
mod oauth_client;
mod owners;
mod platform;
mod privacy;
mod progress;
mod push;
mod pushes;
mod report;
mod sandbox;
mod schedule;
mod secrets;
mod segments;
mod sim;
mod subscription;
mod tag;
mod timeline;
mod token;
mod user;
mod webhook;
mod why;

use std::future::Future;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::ExitCode;

use anyhow::{Context, Result};
use bytes::Bytes;
use clap::{Args, Parser, Subcommand};
use model::app::AppKey;

use crate::client::{Client, Reply};
use crate::config::{Data, HEADING as SETTINGS, Node, Remote, Sources, app_key};
use crate::run;

/// Aerogram: a self-hosted messaging service.
#[derive(Parser, Debug)]
#[command(name = "aerogram", version, max_term_width = 120, disable_help_subcommand = true)]
#[command(after_help = examples::OF_ALL, mut_subcommands(examples::shown))]
pub(crate) struct Cli {
    /// File with settings; aerogram.toml in the working folder when absent
    #[arg(long, global = true, value_name = "PATH", help_heading = "Settings")]
    pub(crate) config: Option<PathBuf>,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run the service
    Serve(Box<Node>),
    /// Bring the database's tables up to date, without serving
    Migrate(migrate::Migrate),
    /// Copy the SQLite database to a file while the service runs
    Backup(backup::Backup),
    /// Copy an installation to another database, such as from SQLite to PostgreSQL
    Copy(copy::Copy),
    /// Go on without a secrets key that is lost
    Secrets(secrets::Secrets),
    /// Check that the service and its files are in order
    Doctor(doctor::Doctor),
    /// List the nodes, and what each is doing
    Nodes(nodes::Nodes),
    /// Create, list and change apps
    App(app::App),
    /// Make, list and revoke tokens for servers
    Token(token::Token),
    /// Make, list and revoke OAuth clients for servers
    OauthClient(oauth_client::OauthClient),
    /// Let people in to the console
    Console(console::Console),
    /// Show who asked for which change
    Audit(audit::Audit),
    /// Configure how an app reaches its platforms
    Platform(platform::Platform),
    /// Forward the events of an app, and see how that goes
    Webhook(webhook::Webhook),
    /// Send a push, or pause, resume, cancel or follow one
    Push(Box<push::Push>),
    /// Find out why somebody got a push, or did not
    Why(why::Why),
    /// List and search the pushes of an app
    Pushes(pushes::Pushes),
    /// Show what happens to an app
    Events(events::Events),
    /// Show what an app has counted over time
    Report(report::Report),
    /// Show what a development app delivered to the sandbox
    Sandbox(sandbox::Sandbox),
    /// Find out whom an audience reaches
    Audience(audience::Audience),
    /// Count the devices that have a live connection now
    Live(live::Live),
    /// List channels, or show one and what happened to it
    Channel(channel::Channel),
    /// List named users, show one and what happened to them, and change which channels are theirs
    User(user::User),
    /// List tags, and change those of channels and named users
    Tag(tag::TagArgs),
    /// List attributes, and change those of channels and named users
    Attribute(attribute::Attribute),
    /// List subscription lists, and subscribe channels and named users
    Subscription(subscription::Subscription),
    /// Find the places that audiences can name
    Location(location::Location),
    /// Export or erase what is stored about a person
    Privacy(privacy::Privacy),
    /// List, make and change segments
    #[command(visible_alias = "segments")]
    Segment(segments::Segments),
    /// List, make, change and pause schedules
    Schedule(schedule::Schedule),
    /// List and make A/B tests
    // The API does not change experiments, which the command says when it is asked to.
    #[command(mut_subcommand("update", |update| update.hide(true)))]
    Experiment(noun::NounArgs),
    /// List, make and change pipelines, which send by themselves
    Pipeline(noun::NounArgs),
    /// List, make and change templates
    Template(noun::NounArgs),
    /// List, make, fill and read uploaded lists
    List(list::List),
    /// List, make and upload lists that change the tags of everybody in a file
    TagList(change_list::TagList),
    /// List, make and upload lists that change the attributes of everybody in a file
    AttributeList(change_list::AttributeList),
    /// Bring the channels of a file, or of another service
    Import(Box<import::Import>),
    /// Write what an app has as JSON lines, which `import jsonl` reads
    Export(export::Export),
    /// Make any call of the API with the credentials that are set
    Api(api::Api),
    /// Simulate the push providers on this machine
    Sim(Box<sim::Sim>),
    /// Print what a shell needs to complete commands
    Completions(completions::Completions),
    /// Write the manual pages into a folder
    Man(completions::Man),
}

/// The server a command talks to as its operator.
#[derive(Args, Debug)]
struct Operator {
    #[command(flatten)]
    remote: Remote,
    #[command(flatten)]
    data: Data,
}

pub(crate) fn run(cli: Cli, sources: &Sources) -> Result<ExitCode> {
    match cli.command {
        Command::Serve(node) => run::serve(&node, sources),
        Command::Migrate(migrate) => one_thread(Box::pin(migrate.run())),
        Command::Backup(backup) => one_thread(Box::pin(backup.run())),
        Command::Copy(copy) => one_thread(Box::pin(copy.run())),
        Command::Secrets(secrets) => one_thread(Box::pin(secrets.run())),
        Command::Doctor(doctor) => one_thread(Box::pin(doctor.run(sources))),
        Command::Nodes(nodes) => one_thread(Box::pin(nodes.run())),
        Command::App(app) => one_thread(Box::pin(app.run())),
        Command::Token(token) => one_thread(Box::pin(token.run())),
        Command::OauthClient(client) => one_thread(Box::pin(client.run())),
        Command::Console(console) => one_thread(Box::pin(console.run())),
        Command::Audit(audit) => one_thread(Box::pin(audit.run())),
        Command::Platform(platform) => one_thread(Box::pin(platform.run())),
        Command::Webhook(webhook) => one_thread(Box::pin(webhook.run())),
        Command::Push(push) => one_thread(Box::pin(push.run())),
        Command::Why(why) => one_thread(Box::pin(why.run())),
        Command::Pushes(pushes) => one_thread(Box::pin(pushes.run())),
        Command::Events(events) => one_thread(Box::pin(events.run())),
        Command::Report(report) => one_thread(Box::pin(report.run())),
        Command::Sandbox(sandbox) => one_thread(Box::pin(sandbox.run())),
        Command::Audience(audience) => one_thread(Box::pin(audience.run())),
        Command::Live(live) => one_thread(Box::pin(live.run())),
        Command::Channel(channel) => one_thread(Box::pin(channel.run())),
        Command::User(user) => one_thread(Box::pin(user.run())),
        Command::Tag(tag) => one_thread(Box::pin(tag.run())),
        Command::Attribute(attribute) => one_thread(Box::pin(attribute.run())),
        Command::Subscription(subscription) => one_thread(Box::pin(subscription.run())),
        Command::Location(location) => one_thread(Box::pin(location.run())),
        Command::Privacy(privacy) => one_thread(Box::pin(privacy.run())),
        Command::Segment(segments) => one_thread(Box::pin(segments.run())),
        Command::Schedule(schedule) => one_thread(Box::pin(schedule.run())),
        Command::Experiment(noun) => one_thread(Box::pin(noun.run(&noun::EXPERIMENTS))),
        Command::Pipeline(noun) => one_thread(Box::pin(noun.run(&noun::PIPELINES))),
        Command::Template(noun) => one_thread(Box::pin(noun.run(&noun::TEMPLATES))),
        Command::List(list) => one_thread(Box::pin(list.run())),
        Command::TagList(list) => one_thread(Box::pin(list.run())),
        Command::AttributeList(list) => one_thread(Box::pin(list.run())),
        Command::Import(import) => one_thread(Box::pin(import.run())),
        Command::Export(export) => one_thread(Box::pin(export.run())),
        Command::Api(api) => one_thread(Box::pin(api.run())),
        Command::Sim(sim) => one_thread(Box::pin(sim.run())),
        Command::Completions(completions) => completions.run(),
        Command::Man(man) => man.run(),
    }
}

// The app that a command is about a thing of. Clap would make a comment for documentation the help of the lists.
#[derive(Args, Debug)]
struct OfApp {
    /// Key of the app; the exported one when absent
    // A setting, so that the exported one is meant when no other is given.
    #[arg(
        id = "app_key",
        value_name = "KEY",
        allow_hyphen_values = true,
        value_parser = app_key,
        help_heading = SETTINGS
    )]
    app: AppKey,
}

impl Operator {
    fn connect(&self) -> Result<Client> {
        Client::operator(&self.remote, &self.data)
    }

    /// Sends a request to the server, and shows the answer to a person, or as it is.
    async fn run(
        &self,
        ask: impl AsyncFnOnce(&Client) -> Result<Reply>,
        show: impl FnOnce(&Reply) -> Result<()>,
    ) -> Result<ExitCode> {
        let reply = ask(&self.connect()?).await?;
        if self.remote.json {
            reply.print()?;
        } else {
            show(&reply)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Boxed, because the runtime would be compiled for each command.
fn one_thread(command: Pin<Box<dyn Future<Output = Result<ExitCode>> + '_>>) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("The runtime cannot be started")?.block_on(command)
}

/// The bytes of a file, or of standard input for `-`. The server checks them.
fn read_input(path: &Path) -> Result<Bytes> {
    if path != Path::new("-") {
        return Ok(std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?.into());
    }
    let mut body = Vec::new();
    std::io::stdin().read_to_end(&mut body).context("Standard input cannot be read")?;
    Ok(body.into())
}

/// The same where only text is allowed.
fn read_text(path: &Path) -> Result<String> {
    let bytes = read_input(path)?.to_vec();
    String::from_utf8(bytes).ok().with_context(|| format!("{} is not a text file", path.display()))
}

#[cfg(test)]
mod tests;
