//! The recipes of docs/sdk.md, as they are written there, on pages with React, with Vue, and without either. `scripts/browser`
//! fetches the two libraries.

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::browser::{Browser, Tab};

use super::site::{File, Site};
use super::{channel_named, folder, send};

const DOCUMENT: &str = include_str!("../../../../../docs/sdk.md");

/// Loads React as the globals that its files make, and lets modules import them.
const REACT_PAGE: &str = "<!doctype html><html lang=en><title>React</title><link rel=icon href='data:,'>
<script src=/react.js></script><script src=/react-dom.js></script>
<script type=importmap>{\"imports\": {\"react\": \"/react-module.js\"}}</script>
<script type=module src=/page.js></script><main id=root></main></html>";
const REACT_MODULE: &str = "export const { createElement, useEffect, useState, useSyncExternalStore } = window.React;";
const REACT_SCRIPT: &str = "
import { createElement } from 'react';
import { usePush } from '/recipe.js';
function Status() {
  const { push, connected } = usePush();
  return createElement('p', {}, connected ? `connected as ${push.channelId}` : 'alone');
}
ReactDOM.createRoot(document.getElementById('root')).render(createElement(Status));
";

const VUE_PAGE: &str = "<!doctype html><html lang=en><title>Vue</title><link rel=icon href='data:,'>
<script type=importmap>{\"imports\": {\"vue\": \"/vue.js\"}}</script>
<script type=module src=/page.js></script><main id=root></main></html>";
const VUE_SCRIPT: &str = "
import { createApp, h } from 'vue';
import { usePush } from '/recipe.js';
createApp({
  setup() {
    const { push, connected } = usePush();
    return () => h('p', connected.value ? `connected as ${push.value.channelId}` : 'alone');
  },
}).mount('#root');
";

/// Keeps what the script of the document writes.
const PLAIN_PAGE: &str = "<!doctype html><html lang=en><title>Plain</title><link rel=icon href='data:,'>
<script>window.said = []; console.log = (text) => said.push(text);</script><button id=allow>Allow</button>";

const HTML: &str = "text/html";
const SCRIPT: &str = "text/javascript";

/// The first block of code with such a fence after some words of the document, for an app.
fn block(app: &TestApp, words: &str, fence: &str) -> String {
    let opening = format!("```{fence}\n");
    let code = DOCUMENT.split_once(words).and_then(|(_, rest)| rest.split_once(&opening));
    let code = code.and_then(|(_, rest)| rest.split_once("\n```"));
    let (code, _) = code.unwrap_or_else(|| panic!("the document has no {fence} after '{words}'"));
    code.replace("https://push.example.com", &app.url("")).replace("'KEY'", &format!("'{}'", app.app.key))
}

/// A library that `scripts/browser` has put there.
fn library(name: &str) -> String {
    let path = folder().join("recipes").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

async fn open(app: &TestApp, browser: &Browser, files: Vec<File>) -> Tab {
    let site = Site::with(app, files).await;
    let tab = browser.tab().await;
    tab.open(&site.url("")).await;
    tab
}

/// The page shows that it is connected, and as which channel.
async fn is_connected(app: &TestApp, tab: &Tab) {
    tab.shows("connected as ").await;
    let shown = tab.run("document.body.innerText.trim()").await;
    let id = shown.as_str().unwrap().trim_start_matches("connected as ").to_owned();
    assert_eq!(channel_named(app, &id).await["device_type"], "web");
    assert_eq!(tab.complaints(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn of_a_plain_page() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let page = format!("{PLAIN_PAGE}{}</html>", block(&app, "And in the page:", "html"));
        let tab = open(&app, &browser, vec![("/", HTML, page)]).await;
        tab.wait_for("document.querySelector('#allow').onclick").await;
        // The first may have been sent before the page was connected.
        while tab.run("said.length").await == json!(0) {
            send(&app, json!({"alert": "Hello"}), Value::Null).await;
        }
        assert_eq!(tab.run("said[0]").await, "Hello");
        assert_eq!(tab.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn of_react() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let files = vec![
            ("/", HTML, REACT_PAGE.to_owned()),
            ("/page.js", SCRIPT, REACT_SCRIPT.to_owned()),
            ("/recipe.js", SCRIPT, block(&app, "## Recipes", "jsx")),
            ("/react-module.js", SCRIPT, REACT_MODULE.to_owned()),
            ("/react.js", SCRIPT, library("react.js")),
            ("/react-dom.js", SCRIPT, library("react-dom.js")),
        ];
        is_connected(&app, &open(&app, &browser, files).await).await;
        app.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn of_vue() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let files = vec![
            ("/", HTML, VUE_PAGE.to_owned()),
            ("/page.js", SCRIPT, VUE_SCRIPT.to_owned()),
            ("/recipe.js", SCRIPT, block(&app, "Vue, as a composable:", "js")),
            ("/vue.js", SCRIPT, library("vue.js")),
        ];
        is_connected(&app, &open(&app, &browser, files).await).await;
        app.stop().await;
    })
    .await;
}
