//! Every numeric limit of the API, in one place.

/// Values in one body: every object, array, string, number, boolean and null. Each costs memory, however short it is.
pub const JSON_VALUES: usize = 400_000;

/// Pushes in one request.
pub const PUSHES_PER_REQUEST: usize = 100;
/// Pushes in one request for their details.
pub const PUSHES_PER_REPORT: usize = 100;
/// Recipients that one push brings along.
pub const RECIPIENTS_PER_REQUEST: usize = 1000;
/// Atomic selectors in one audience, at any depth. AND, OR and NOT do not count.
pub const SELECTORS_PER_AUDIENCE: usize = 1000;
/// Nesting of AND, OR and NOT.
pub const SELECTOR_DEPTH: usize = 50;
/// Values in the array of one selector.
pub const VALUES_PER_SELECTOR: usize = 100;
pub const ALIAS_CHARS: usize = 128;
/// Of the names of apps and webhooks.
pub const DISPLAY_NAME_CHARS: usize = 128;
/// Of the addresses by which people log in to the console.
pub const EMAIL_CHARS: usize = 254;
/// Of the passwords of people, after which nobody types more.
pub const PASSWORD_CHARS: std::ops::RangeInclusive<usize> = 12..=256;
/// Tokens and OAuth clients that an app can have.
pub const TOKENS_PER_APP: usize = 100;
pub const SCOPES_PER_TOKEN: usize = 20;
pub const NETWORKS_PER_TOKEN: usize = 50;
/// For how many seconds a token can be made that ends: ten years.
pub const TOKEN_SECONDS: u32 = 10 * 366 * 24 * 60 * 60;
/// For how long a secret that was replaced can stay good: 90 days.
pub const OVERLAP_SECONDS: u32 = 90 * 24 * 60 * 60;
/// Origins whose pages may register browsers.
pub const WEB_ORIGINS: usize = 100;
pub const WEB_ORIGIN_CHARS: usize = 255;
pub const STATIC_LIST_NAME_CHARS: usize = 64;
pub const SUBSCRIPTION_LIST_ID_CHARS: usize = 32;
/// The telephone number of a person, without the plus sign.
pub const MSISDN_DIGITS: usize = 15;
pub const SMS_SENDER_CHARS: usize = 16;
/// The name of an attribute in a selector; the names of stored attributes are shorter.
pub const SELECTOR_ATTRIBUTE_CHARS: usize = 256;
pub const ATTRIBUTE_TEXT_CHARS: usize = 255;
/// The path of a property inside a JSON attribute or a custom event.
pub const PROPERTY_PATH_CHARS: usize = 255;
pub const ACTIVITY_CHARS: usize = 255;
pub const LOCATION_NAME_CHARS: usize = 128;

pub const TAG_CHARS: usize = 128;
pub const TAG_GROUP_CHARS: usize = 128;
/// Tags in one group of one operation.
pub const TAGS_PER_OPERATION: usize = 100;
pub const TAGS_PER_CHANNEL: usize = 1000;
pub const NAMED_USER_ID_CHARS: usize = 128;
/// Channels of one kind, or named users, whose tags, attributes or subscriptions one request changes.
pub const IDS_PER_AUDIENCE: usize = 1000;
/// Devices in one list of the legacy tag endpoint, and rows of its batches.
pub const LEGACY_TAG_DEVICES: usize = 1000;

pub const NAMED_USER_UNINSTALLS: usize = 100;
/// Channels to associate, or to disassociate, in one update of a named user.
pub const ASSOCIATIONS_PER_REQUEST: usize = 1000;
pub const CHANNELS_PER_NAMED_USER: usize = 100;
pub const NAMED_USERS_PER_PAGE: u32 = 1000;

pub const SEGMENT_NAME_CHARS: usize = 255;
pub const SEGMENTS_PER_PAGE: u32 = 200;

pub const PUSH_NAME_CHARS: usize = 100;
/// The characters of a title and of a text that a listing of pushes shows.
pub const SHOWN_CHARS: usize = 200;

pub const DRAFT_NAME_CHARS: usize = 255;
/// What the program that writes a draft keeps with it.
pub const DRAFT_EDITOR_CHARS: usize = 65_536;
pub const DRAFTS_PER_APP: i64 = 1000;
pub const DRAFTS_PER_PAGE: u32 = 200;
/// How long what is sent from a draft can be taken back, in seconds.
pub const DRAFT_UNDO_SECONDS: u32 = 600;

/// Schedules in one request, and in one that has local times.
pub const SCHEDULES_PER_REQUEST: usize = 1000;
pub const LOCAL_SCHEDULES_PER_REQUEST: usize = 100;
pub const SCHEDULE_NAME_CHARS: usize = 255;
pub const SCHEDULE_EXCLUSIONS: usize = 100;
pub const SCHEDULES_PER_PAGE: u32 = 200;
/// The number of hours, days, weeks, months or years between two times.
pub const CADENCE_COUNT: u16 = 1000;

pub const EXPERIMENT_NAME_CHARS: usize = 255;
pub const EXPERIMENT_DESCRIPTION_CHARS: usize = 1000;
/// One for each letter.
pub const VARIANTS_PER_EXPERIMENT: usize = 26;
pub const VARIANT_WEIGHT: i64 = 1_000_000;
pub const EXPERIMENTS_PER_PAGE: u32 = 100;

pub const LISTS_PER_APP: usize = 100;
pub const LIST_DESCRIPTION_CHARS: usize = 1000;
pub const TAG_LIST_DESCRIPTION_CHARS: usize = 10_000;
/// Attributes in a file of an attribute list.
pub const LIST_ATTRIBUTE_COLUMNS: usize = 100;
/// The cells of a row of such a file together, without quotes.
pub const LIST_ROW_BYTES: usize = 1024 * 1024;
pub const LIST_EXTRA_PAIRS: usize = 100;
pub const LIST_EXTRA_KEY_CHARS: usize = 64;
pub const LIST_EXTRA_VALUE_CHARS: usize = 1024;
pub const ROWS_PER_LIST: u64 = 10_000_000;
/// Recipients in a file for bulk sending.
pub const ROWS_PER_BULK_UPLOAD: u64 = 1_000_000;
/// One cell of an uploaded list.
pub const LIST_CELL_BYTES: usize = 1024;

pub const ATTRIBUTE_INSTANCE_CHARS: usize = 64;
/// A JSON object as the value of an attribute, written without white space.
pub const ATTRIBUTE_JSON_BYTES: usize = 8192;
/// After so many days an object ends that does not say when, and after so many at the latest.
pub const ATTRIBUTE_OBJECT_DAYS: u32 = 90;
pub const ATTRIBUTE_OBJECT_MOST_DAYS: u32 = 731;
pub const ATTRIBUTES_PER_REQUEST: usize = 1000;
/// Changes of the attributes of contacts in one request.
pub const CONTACT_CHANGES_PER_REQUEST: usize = 1000;
/// Attributes of one channel or of one named user.
pub const ATTRIBUTES_PER_OWNER: usize = 1000;
/// Changes of subscriptions in one request, and lists in one scoped change.
pub const SUBSCRIPTIONS_PER_REQUEST: usize = 1000;
/// Lists that one channel or one named user subscribes to.
pub const SUBSCRIPTIONS_PER_OWNER: usize = 1000;

pub const UNINSTALLS_PER_REQUEST: usize = 1000;
pub const CHANNELS_PER_PAGE: u32 = 1000;
/// A push address may be a web push endpoint, which is a URL.
pub const PUSH_ADDRESS_CHARS: usize = 4096;
pub const OPEN_ADDRESS_CHARS: usize = 128;
pub const OPEN_PLATFORM_CHARS: usize = 128;
pub const OPEN_IDENTIFIERS: usize = 100;

pub const CAMPAIGN_CATEGORIES: usize = 10;
pub const CAMPAIGN_CATEGORY_CHARS: usize = 64;
pub const SHARE_CHARS: usize = 1024;
pub const DEEP_LINK_CHARS: usize = 1024;
pub const LANDING_PAGE_CHARS: usize = 8192;
pub const STYLE_LINES: usize = 100;
pub const IOS_COLLAPSE_ID_BYTES: usize = 64;
/// Title and body of a Message Center message together.
pub const MESSAGE_BYTES: usize = 256 * 1024;
/// A message without an expiry, or with a later one, is kept for this long.
pub const MESSAGE_DAYS: u64 = 365;
/// Only this many messages of an inbox, the newest, are listed.
pub const MESSAGES_PER_INBOX: usize = 1000;
/// Messages that a channel holds of those sent to few channels; the oldest make room for others.
pub const FEW_HELD_PER_CHANNEL: u32 = 1000;
/// Messages that one request marks as read or deletes.
pub const MESSAGES_PER_REQUEST: usize = 1000;
/// Messages, or groups of pushes, that one request of a server deletes.
pub const MESSAGE_DELETIONS: usize = 50;
/// Channels that share one inbox.
pub const CHANNELS_PER_INBOX: usize = 20;
pub const CONTENT_TYPE_CHARS: usize = 128;
/// Localized variants of one push.
pub const LOCALIZATIONS: usize = 100;
/// Feeds or snippets one push refers to.
pub const REFERENCES: usize = 100;
pub const REFERENCE_NAME_CHARS: usize = 128;

pub const WEB_BUTTONS: usize = 2;
pub const WEARABLE_PAGES: usize = 100;
pub const WNS_BINDINGS: usize = 100;
/// How long Amazon keeps a message that cannot be delivered: one minute to 31 days.
pub const AMAZON_EXPIRY_SECONDS: std::ops::RangeInclusive<u32> = 60..=2_678_400;
pub const SMS_ALERT_CHARS: usize = 1600;
/// A text message is tried for at most two days.
pub const SMS_EXPIRY_SECONDS: u32 = 172_800;
pub const MMS_FALLBACK_CHARS: usize = 160;
pub const MMS_SUBJECT_CHARS: usize = 80;
pub const MMS_TEXT_CHARS: usize = 5000;
pub const MMS_URL_CHARS: usize = 2000;
pub const MMS_MEDIA_BYTES: i64 = 2_048_000;
/// Each of the two bodies of an email.
pub const EMAIL_BODY_BYTES: usize = 100 * 1024;
pub const EMAIL_ADDRESS_CHARS: usize = 254;
pub const EMAIL_BCC: usize = 100;
pub const EMAIL_ATTACHMENTS: usize = 100;
pub const ATTRIBUTE_NAME_CHARS: usize = 64;
/// Attribute, tag or subscription changes in one actions object.
pub const CHANGES_PER_ACTION: usize = 100;
pub const EVENT_NAME_CHARS: usize = 255;
/// Events that a device sends at once; any more are skipped.
pub const EVENTS_PER_UPLOAD: usize = 500;
/// One event of a device.
pub const EVENT_BYTES: usize = 128 * 1024;
/// The properties of one custom event, written without white space.
pub const EVENT_PROPERTIES_BYTES: usize = 65_536;
/// The value of a custom event, positive or negative.
pub const EVENT_VALUE: f64 = 2_147_483_647.0;
/// Custom events that a server sends at once.
pub const CUSTOM_EVENTS_PER_REQUEST: usize = 100;
pub const SESSION_ID_CHARS: usize = 255;
pub const IN_APP_ID_CHARS: usize = 255;
/// Ids of a device in other systems.
pub const IDENTIFIERS: usize = 100;
pub const IDENTIFIER_CHARS: usize = 255;
pub const TEMPLATE_VARIABLES: usize = 100;
/// The texts of a content template.
pub const CONTENT_TEMPLATE_TEXTS: usize = 100;
pub const TEMPLATE_VARIABLE_CHARS: usize = 32;
/// The default of a variable of an inline template, written without white space.
pub const DEFAULT_VALUE_BYTES: usize = 8192;
/// Different places in the texts of one push where something is filled in.
pub const MARKS_PER_PUSH: usize = 2000;
/// Different names under which the texts of one push look for values. Each is looked up for all recipients.
pub const NAMES_PER_PUSH: usize = 200;
pub const TEMPLATE_NAME_CHARS: usize = 255;
pub const TEMPLATE_DESCRIPTION_CHARS: usize = 1000;
/// Values for the variables of a template.
pub const SUBSTITUTIONS: usize = 1000;
/// All texts of a push that a template has been filled in for.
pub const RENDERED_TEMPLATE_BYTES: usize = 512 * 1024;
/// A template as it is stored. A page of them is in memory as a whole.
pub const TEMPLATE_BYTES: usize = RENDERED_TEMPLATE_BYTES;
/// To list some, the times of all templates are read, because listings are ordered by them.
pub const TEMPLATES_PER_APP: i64 = 1000;
pub const TEMPLATES_PER_PAGE: u32 = 100;
pub const EXTERNAL_ID_CHARS: usize = 64;

/// A fact that a device reports about itself: its model, its carrier, a version, a time zone.
pub const DEVICE_TEXT_CHARS: usize = 255;
/// An id under which a device was known before.
pub const DEVICE_HINT_CHARS: usize = 128;
pub const USER_AGENT_CHARS: usize = 1024;
pub const PERMISSIONS: usize = 50;
/// A key of an object whose keys are the sender's own.
pub const MAP_KEY_CHARS: usize = 128;
pub const OPEN_IDENTIFIER_VALUE_CHARS: usize = 1024;

pub const PIPELINES_PER_REQUEST: usize = 100;
pub const PIPELINES_PER_PAGE: u32 = 100;
/// Pipelines that were deleted and are still listed.
pub const DELETED_PIPELINES: u32 = 1000;
pub const PIPELINE_NAME_CHARS: usize = 255;
pub const PIPELINE_OUTCOMES: usize = 10;
pub const PIPELINE_TRIGGERS: usize = 20;
/// One year.
pub const PIPELINE_DELAY_SECONDS: i64 = 365 * 24 * 60 * 60;
/// Parts of the day in which a pipeline may send, and windows in each.
pub const DAYPARTS: usize = 20;
pub const ALLOWED_TIMES: usize = 20;
pub const PIPELINE_INACTIVE_DAYS: i64 = 90;
pub const PIPELINE_CONDITIONS: usize = 20;
pub const PIPELINE_RATES: usize = 3;
pub const PIPELINE_RATE_PUSHES: i64 = 100;
pub const PIPELINE_RATE_HOURS: i64 = 72;
pub const PIPELINE_RATE_DAYS: i64 = 90;
/// Rates that all pipelines of an app share.
pub const GLOBAL_RATES: usize = 5;
/// Members of one AND or OR in the selector of a trigger, and how deep these may be nested.
pub const EVENT_SELECTORS: usize = 20;
pub const EVENT_SELECTOR_DEPTH: usize = 3;
/// Filters of one request for events, any of which is enough.
pub const EVENT_FILTERS: usize = 20;
/// Predicates in one of these filters.
pub const EVENT_PREDICATES: usize = 20;
/// Matchers in one predicate, at any depth.
pub const PREDICATE_MATCHERS: usize = 100;

/// Webhooks of one app. Each has a slot of its own to forward events with.
pub const WEBHOOKS_PER_APP: usize = 20;

/// Faults of the sandbox that wait at once, and the messages that one of them is for.
pub const SANDBOX_FAULTS: usize = 100;
pub const SANDBOX_FAULT_MESSAGES: u32 = 1_000_000;

pub const JOURNEY_NAME_CHARS: usize = 256;
pub const JOURNEYS_PER_REQUEST: usize = 10;
pub const JOURNEY_ENTRANCE_CHARS: usize = 64;

/// All data of an app for its devices together, which every device downloads.
pub const REMOTE_DATA_BYTES: usize = 1024 * 1024;
pub const IN_APP_MESSAGES_PER_APP: usize = 500;
/// Preference forms, feature flags and holdout groups of an app, of each.
pub const REMOTE_DATA_PER_APP: usize = 200;
/// Names, ids and other short texts in data for apps.
pub const REMOTE_DATA_NAME_CHARS: usize = 255;
/// Arrays and objects of data for apps within each other. It is kept, shown and served inside others, and readers of JSON take
/// some 127 of them.
pub const REMOTE_DATA_DEPTH: usize = 100;
/// Values in most lists of data for apps.
pub const REMOTE_DATA_ITEMS: usize = 100;
/// Libraries take no more triggers of one message.
pub const IN_APP_TRIGGERS: usize = 10;
pub const IN_APP_TEXT_CHARS: usize = 10_000;
/// Views side by side in a scene.
pub const SCENE_ITEMS: usize = 1000;
pub const LIVE_CHANGES_PER_REQUEST: usize = 100;
/// Names, ids and tokens of Live Activities and Live Updates.
pub const LIVE_TEXT_CHARS: usize = 500;
/// Live Activities and Live Updates of a channel, and the types that can be started on it.
pub const LIVE_PER_CHANNEL: u32 = 100;
