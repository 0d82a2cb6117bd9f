//! Changes of accounts and teams, for the walk through all changes.

use serde_json::json;
use testkit::app::TestApp;

/// Accounts, and the team of the app at a path.
pub(super) async fn invite(app: &TestApp, path: &str) {
    let operator = app.operator();
    operator.post("/operator/accounts/owner-link", "").await.expect(200);
    let invited = operator.post("/operator/accounts", json!({"email": "kim@example.com"})).await.expect(201);
    let account = format!("/operator/accounts/{}", invited["account_id"].as_str().unwrap());
    operator.post(&format!("{account}/link"), "").await.expect(200);
    let made = operator.post(&format!("{account}/link"), "").await.expect(200);
    let code = made["link"].as_str().unwrap().split_once("code=").unwrap().1;
    let password = "correct horse battery".to_owned();
    let new = accounts::NewPassword { email: String::new(), name: "Kim".to_owned(), password };
    app.engine().accounts().use_link(code, new, accounts::Origin::default()).await.unwrap();
    let sign_ins = operator.get(&format!("{account}/sign-ins")).await.expect(200);
    let sign_in = sign_ins["sign_ins"][0]["sign_in_id"].as_str().unwrap();
    operator.delete(&format!("{account}/sign-ins/{sign_in}")).await.expect(204);
    operator.delete(&format!("{account}/one-time-codes")).await.expect(204);
    operator.patch(&account, json!({"name": "Kim Lee"})).await.expect(200);
    let token = operator.post(&format!("{path}/tokens"), json!({"name": "Shop", "role": "sender"})).await.expect(201);
    operator.delete(&format!("{path}/tokens/{}", token["token_id"].as_str().unwrap())).await.expect(204);
    let client =
        operator.post(&format!("{path}/oauth-clients"), json!({"name": "CRM", "role": "viewer"})).await.expect(201);
    operator.delete(&format!("{path}/oauth-clients/{}", client["client_id"].as_str().unwrap())).await.expect(204);
    let member = json!({"email": "kim@example.com", "role": "viewer"});
    let added = operator.post(&format!("{path}/team"), member).await.expect(201);
    assert_eq!((&added["account_id"], added.get("link")), (&invited["account_id"], None));
    let member = format!("{path}/team/{}", invited["account_id"].as_str().unwrap());
    operator.put(&member, json!({"role": "admin"})).await.expect(204);
    operator.get(&account).await.expect(200);
    operator.delete(&member).await.expect(204);
    operator.delete(&account).await.expect(204);
}
