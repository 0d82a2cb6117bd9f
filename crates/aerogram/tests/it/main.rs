//! Tests of the whole: the shape of the source tree, and the program from outside.

#[cfg(test)]
mod account_story;
#[cfg(test)]
mod app_line_story;
#[cfg(test)]
mod attack_story;
#[cfg(test)]
mod audience_story;
#[cfg(test)]
mod backup_story;
#[cfg(test)]
mod certificate_story;
#[cfg(test)]
mod command_line;
#[cfg(test)]
mod copy_story;
#[cfg(test)]
mod crash_story;
#[cfg(test)]
mod doctor_story;
#[cfg(test)]
mod event_names;
#[cfg(test)]
mod examples_story;
#[cfg(test)]
mod export_story;
#[cfg(test)]
mod file_story;
#[cfg(test)]
mod following_story;
#[cfg(test)]
mod import_story;
#[cfg(test)]
mod live_crash_story;
#[cfg(test)]
mod lossy;
#[cfg(test)]
mod moving_story;
#[cfg(test)]
mod nodes_story;
#[cfg(test)]
mod noun_story;
#[cfg(test)]
mod operator_story;
#[cfg(test)]
mod postgres_story;
#[cfg(test)]
mod privacy_story;
#[cfg(test)]
mod push_story;
#[cfg(test)]
mod release_story;
#[cfg(test)]
mod report_story;
#[cfg(test)]
mod resume_story;
#[cfg(test)]
mod scripted;
#[cfg(test)]
mod server;
#[cfg(test)]
mod sim_story;
#[cfg(test)]
mod start_story;
#[cfg(test)]
mod stop_story;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod threat_model;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod timeline_story;
#[cfg(test)]
mod tls_story;
#[cfg(test)]
mod token_story;
#[cfg(test)]
mod transcripts_story;
#[cfg(test)]
mod web_story;
#[cfg(test)]
mod webhook_story;
