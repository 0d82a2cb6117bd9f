//! Examples of every command, shown below its help and in its manual page. Tests run them against a server; words in capitals
//! stand for ids, as `list` shows them, and for the key of an app.

use clap::Command;

/// Below the help of the program itself.
pub(super) const OF_ALL: &str = "Examples:\n  aerogram serve\n  aerogram app create Shop\n  aerogram doctor\n  \
                                 aerogram push 'Hello' --audience all --dry-run";

/// The words of each command, and how it is used.
pub(super) const EXAMPLES: &[(&str, &[&str])] = &[
    ("serve", &["aerogram serve", "aerogram serve --listen 0.0.0.0:8080 --roles api"]),
    ("migrate", &["aerogram migrate --database sqlite:./aerogram-data/aerogram.db"]),
    ("backup", &["aerogram backup copy.db"]),
    (
        "copy",
        &["aerogram copy --from sqlite:./aerogram-data/aerogram.db --to postgres://aerogram@db.example.com/aerogram"],
    ),
    ("secrets accept", &["aerogram secrets accept --yes"]),
    ("doctor", &["aerogram doctor", "aerogram doctor --json"]),
    ("nodes", &["aerogram nodes"]),
    ("app create", &["aerogram app create Shop", "aerogram app create Shop --mode production --json"]),
    ("app list", &["aerogram app list"]),
    ("app rotate", &["aerogram app rotate KEY --secret master --overlap-hours 24"]),
    ("app end-former-secret", &["aerogram app end-former-secret KEY --secret master"]),
    ("app delete", &["aerogram app delete KEY --yes"]),
    ("app mode", &["aerogram app mode KEY production"]),
    ("app named-users", &["aerogram app named-users KEY --associate servers --tags signed"]),
    ("app web-origins", &["aerogram app web-origins KEY --add https://shop.example"]),
    ("app proof-key", &["aerogram app proof-key KEY --set public.pem"]),
    ("app demo", &["aerogram app demo KEY"]),
    ("token create", &["aerogram token create KEY 'Order service' --role sender --days 90"]),
    ("token list", &["aerogram token list KEY"]),
    ("token revoke", &["aerogram token revoke KEY TOKEN_ID --yes"]),
    ("oauth-client create", &["aerogram oauth-client create KEY Warehouse --role viewer --scopes rpt"]),
    ("oauth-client list", &["aerogram oauth-client list KEY"]),
    ("oauth-client revoke", &["aerogram oauth-client revoke KEY CLIENT_ID --yes"]),
    ("console link", &["aerogram console link"]),
    ("console accounts", &["aerogram console accounts"]),
    ("audit", &["aerogram audit --action app.create", "aerogram audit --app KEY --from 2026-01-01 --json"]),
    (
        "platform set",
        &[
            "aerogram platform set KEY apns --topic com.example.shop --team-id ABCDE12345 --key-id ABC123DEFG --key-file AuthKey.p8",
            "aerogram platform set KEY fcm --service-account-file service-account.json",
            "aerogram platform set KEY webpush --subject mailto:push@example.com",
        ],
    ),
    ("platform list", &["aerogram platform list KEY"]),
    ("platform show", &["aerogram platform show KEY webpush"]),
    ("platform test", &["aerogram platform test KEY webpush"]),
    ("platform pause", &["aerogram platform pause KEY fcm --reason 'Wrong text'"]),
    ("platform resume", &["aerogram platform resume KEY fcm"]),
    ("platform delete", &["aerogram platform delete KEY webpush --yes"]),
    ("webhook add", &["aerogram webhook add KEY https://events.example.com/in --types OPEN,SEND"]),
    ("webhook list", &["aerogram webhook list KEY"]),
    ("webhook show", &["aerogram webhook show KEY WEBHOOK_ID"]),
    ("webhook set", &["aerogram webhook set KEY WEBHOOK_ID --name Warehouse --timeout 30"]),
    ("webhook delete", &["aerogram webhook delete KEY WEBHOOK_ID --yes"]),
    ("webhook enable", &["aerogram webhook enable KEY WEBHOOK_ID"]),
    ("webhook disable", &["aerogram webhook disable KEY WEBHOOK_ID"]),
    ("webhook test", &["aerogram webhook test KEY WEBHOOK_ID"]),
    ("webhook history", &["aerogram webhook history KEY WEBHOOK_ID --limit 5"]),
    ("webhook replay", &["aerogram webhook replay KEY WEBHOOK_ID --offset 0"]),
    (
        "webhook dead",
        &[
            "aerogram webhook dead KEY WEBHOOK_ID",
            "aerogram webhook dead KEY WEBHOOK_ID redeliver",
            "aerogram webhook dead KEY WEBHOOK_ID discard --yes",
        ],
    ),
    (
        "push",
        &[
            "aerogram push 'Hello' --audience '{\"tag\": \"news\"}' --dry-run",
            "aerogram push 'Hello' --audience all --device-types ios,android --yes",
            "aerogram push --file push.json --yes",
        ],
    ),
    ("push pause", &["aerogram push pause PUSH_ID"]),
    ("push resume", &["aerogram push resume PUSH_ID"]),
    ("push cancel", &["aerogram push cancel PUSH_ID"]),
    ("push status", &["aerogram push status PUSH_ID"]),
    (
        "push recipients",
        &["aerogram push recipients PUSH_ID --outcome failed", "aerogram push recipients PUSH_ID --csv"],
    ),
    ("push list", &["aerogram push list --state sending"]),
    ("why", &["aerogram why PUSH_ID CHANNEL_ID"]),
    ("pushes", &["aerogram pushes sale --state done --from 2026-01-01"]),
    (
        "events tail",
        &[
            "aerogram events tail --from earliest --type OPEN,SEND --no-follow",
            "aerogram events tail --channel CHANNEL_ID",
        ],
    ),
    (
        "events list",
        &["aerogram events list --push PUSH_ID", "aerogram events list --type UNINSTALL --limit 10 --json"],
    ),
    (
        "report",
        &[
            "aerogram report sends",
            "aerogram report pushes --csv",
            "aerogram report opens --precision monthly --start 2026-01-01 --end 2026-07-01",
        ],
    ),
    ("sandbox", &["aerogram sandbox --limit 5", "aerogram sandbox --follow"]),
    ("audience explain", &["aerogram audience explain '{\"and\": [{\"tag\": \"news\"}, {\"named_user\": \"jo\"}]}'"]),
    ("live", &["aerogram live"]),
    ("channel list", &["aerogram channel list", "aerogram channel list --address a-device-token"]),
    ("channel show", &["aerogram channel show CHANNEL_ID"]),
    ("channel uninstall", &["aerogram channel uninstall CHANNEL_ID --yes"]),
    ("user list", &["aerogram user list --limit 20"]),
    ("user show", &["aerogram user show jo"]),
    ("user associate", &["aerogram user associate jo CHANNEL_ID"]),
    ("user disassociate", &["aerogram user disassociate jo CHANNEL_ID"]),
    ("user uninstall", &["aerogram user uninstall jo --yes"]),
    ("tag list", &["aerogram tag list", "aerogram tag list --group crm --prefix vip"]),
    ("tag groups", &["aerogram tag groups"]),
    (
        "tag add",
        &["aerogram tag add vip early-bird --channel CHANNEL_ID", "aerogram tag add gold --group crm --user jo"],
    ),
    ("tag remove", &["aerogram tag remove early-bird --channel CHANNEL_ID"]),
    ("tag set", &["aerogram tag set gold --group crm --user jo --user ann"]),
    ("attribute list", &["aerogram attribute list --prefix ci"]),
    (
        "attribute set",
        &[
            "aerogram attribute set city=Oslo visits=7 --channel CHANNEL_ID",
            "aerogram attribute set plan=gold --user jo",
        ],
    ),
    ("attribute remove", &["aerogram attribute remove visits --channel CHANNEL_ID"]),
    ("subscription list", &["aerogram subscription list"]),
    ("subscription add", &["aerogram subscription add weekly --channel CHANNEL_ID"]),
    ("subscription remove", &["aerogram subscription remove weekly monthly --user jo"]),
    ("location search", &["aerogram location search 'Portland, Oregon' --type city"]),
    ("location at", &["aerogram location at 45.52,-122.68"]),
    ("location show", &["aerogram location show PLACE_ID"]),
    ("privacy export", &["aerogram privacy export --named-user jo --output jo.jsonl"]),
    ("privacy erase", &["aerogram privacy erase --channel CHANNEL_ID --yes"]),
    ("privacy show", &["aerogram privacy show PRIVACY_ID"]),
    ("privacy verify", &["aerogram privacy verify nobody@example.com"]),
    ("segment list", &["aerogram segment list"]),
    ("segment show", &["aerogram segment show SEGMENT_ID"]),
    ("segment create", &["aerogram segment create --set display_name=News --set 'criteria={\"tag\": \"news\"}'"]),
    ("segment update", &["aerogram segment update SEGMENT_ID segment.json"]),
    ("segment delete", &["aerogram segment delete SEGMENT_ID --yes"]),
    ("segment common-models", &["aerogram segment common-models"]),
    ("schedule list", &["aerogram schedule list"]),
    ("schedule show", &["aerogram schedule show SCHEDULE_ID"]),
    ("schedule create", &["aerogram schedule create schedule.json --set name='Spring sale'"]),
    ("schedule update", &["aerogram schedule update SCHEDULE_ID - < schedule.json"]),
    ("schedule delete", &["aerogram schedule delete SCHEDULE_ID --yes"]),
    ("schedule pause", &["aerogram schedule pause SCHEDULE_ID"]),
    ("schedule resume", &["aerogram schedule resume SCHEDULE_ID"]),
    ("experiment list", &["aerogram experiment list"]),
    ("experiment show", &["aerogram experiment show EXPERIMENT_ID"]),
    ("experiment create", &["aerogram experiment create experiment.json"]),
    ("experiment delete", &["aerogram experiment delete EXPERIMENT_ID --yes"]),
    ("pipeline list", &["aerogram pipeline list"]),
    ("pipeline show", &["aerogram pipeline show PIPELINE_ID"]),
    ("pipeline create", &["aerogram pipeline create pipeline.json"]),
    ("pipeline update", &["aerogram pipeline update PIPELINE_ID pipeline.json --set enabled=false"]),
    ("pipeline delete", &["aerogram pipeline delete PIPELINE_ID --yes"]),
    ("template list", &["aerogram template list"]),
    ("template show", &["aerogram template show TEMPLATE_ID"]),
    ("template create", &["aerogram template create template.json"]),
    ("template update", &["aerogram template update TEMPLATE_ID --set name=Welcome"]),
    ("template delete", &["aerogram template delete TEMPLATE_ID --yes"]),
    ("list list", &["aerogram list list"]),
    ("list show", &["aerogram list show vips"]),
    ("list create", &["aerogram list create --set name=crew"]),
    ("list update", &["aerogram list update vips --set description='People who buy'"]),
    ("list delete", &["aerogram list delete crew --yes"]),
    ("list upload", &["aerogram list upload vips vips.csv"]),
    ("list download", &["aerogram list download vips"]),
    ("list errors", &["aerogram list errors vips"]),
    ("tag-list list", &["aerogram tag-list list"]),
    ("tag-list create", &["aerogram tag-list create --set name=ua_tags_gold --set 'add={\"loyalty\": [\"gold\"]}'"]),
    ("tag-list upload", &["aerogram tag-list upload ua_tags_gold gold.csv"]),
    ("tag-list errors", &["aerogram tag-list errors ua_tags_gold"]),
    ("tag-list delete", &["aerogram tag-list delete ua_tags_gold --yes"]),
    ("attribute-list list", &["aerogram attribute-list list"]),
    ("attribute-list create", &["aerogram attribute-list create --set name=ua_attributes_crm"]),
    ("attribute-list upload", &["aerogram attribute-list upload ua_attributes_crm crm.csv"]),
    ("attribute-list errors", &["aerogram attribute-list errors ua_attributes_crm"]),
    ("import jsonl", &["aerogram import jsonl channels.jsonl --dry-run"]),
    ("import csv", &["aerogram import csv devices.csv --ios --map token=push_address,plan=attribute:plan"]),
    ("import onesignal", &["aerogram import onesignal players.csv --dry-run"]),
    ("import pinpoint", &["aerogram import pinpoint part-0.jsonl part-1.jsonl --limit 100 --dry-run"]),
    (
        "import airship",
        &["AEROGRAM_AIRSHIP_KEY=KEY AEROGRAM_AIRSHIP_SECRET=\"$(cat airship-secret.txt)\" aerogram import airship"],
    ),
    ("export", &["aerogram export shop.jsonl"]),
    (
        "api",
        &[
            "aerogram api GET '/api/channels?limit=5'",
            "aerogram api POST /api/push/validate -d @push.json",
            "aerogram api POST /api/channels/import -d @channels.jsonl --content-type application/x-ndjson",
            "aerogram api GET /operator/apps",
            "aerogram api GET /ready",
        ],
    ),
    ("sim", &["aerogram sim", "aerogram sim --latency 20ms --gone 0.01"]),
    ("sim devices", &["aerogram sim devices --n 100 --platforms ios,android --tags test"]),
    ("completions", &["aerogram completions bash > aerogram.bash"]),
    ("man", &["aerogram man ."]),
];

/// A command with examples below its help, and all commands below it.
pub(super) fn shown(command: Command) -> Command {
    of_command("", command)
}

fn of_command(before: &str, command: Command) -> Command {
    let words = format!("{before} {}", command.get_name()).trim().to_owned();
    let text = text(&words);
    command.mut_subcommands(|below| of_command(&words, below)).after_help(text)
}

/// A command that only has others below it shows the first example of each.
fn text(words: &str) -> String {
    let own = EXAMPLES.iter().find(|(of, _)| *of == words);
    let lines: Vec<&str> = match own {
        Some((_, examples)) => examples.to_vec(),
        None => {
            let below = |of: &str| of.strip_prefix(words).is_some_and(|rest| rest.starts_with(' '));
            EXAMPLES.iter().filter(|(of, _)| below(of)).filter_map(|(_, examples)| examples.first().copied()).collect()
        }
    };
    let lines: String = lines.iter().map(|line| format!("\n  {line}")).collect();
    format!("Examples:{lines}")
}
