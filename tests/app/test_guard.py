"""Only a page of the app, on this machine, with the token, is answered."""

import hmac

import pytest

from dgd.app import guard
from support.visiting import HOST, OWN, TOKEN, Visitor


def test_a_page_of_the_app_is_answered(guest: Visitor) -> None:
    assert guest.get().status_code == 200
    assert guest.get("app.js").status_code == 200


@pytest.mark.parametrize("path", ["/", "/wrong/", f"/{TOKEN}x/", f"/{TOKEN[:-1]}/", "/%FF%FE/"])
def test_without_the_token_nothing_is_answered(guest: Visitor, path: str) -> None:
    for answer in (guest.client.get(path), guest.client.post(path + "open", headers=OWN)):
        assert answer.status_code == 403
        assert "<html" not in answer.text


def test_tokens_are_compared_in_constant_time(
    guest: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    compare = hmac.compare_digest
    monkeypatch.setattr(
        guard.hmac, "compare_digest", lambda a, b: asked.append((a, b)) or compare(a, b)
    )
    guest.client.get("/wrong/")
    assert asked == [(b"wrong", TOKEN.encode())]


def test_tokens_are_long_and_never_the_same() -> None:
    tokens = {guard.new_token() for _ in range(20)}
    assert len(tokens) == 20
    assert min(map(len, tokens)) >= 32


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8123", "127.0.0.1:80", "127.0.0.1", "[::1]:8123", ""]
)
def test_another_host_name_is_refused(guest: Visitor, host: str) -> None:
    answer = guest.get(host=host)
    assert answer.status_code == 400


def test_localhost_is_the_same_machine(guest: Visitor) -> None:
    assert guest.get(host="localhost:8123").status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", f"https://{HOST}", "http://127.0.0.1:9", f"http://{HOST}/"],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_origin_is_refused(guest: Visitor, origin: str, method: str) -> None:
    answer = guest.client.request(method, f"/{TOKEN}/open", headers={"origin": origin})
    assert answer.status_code == 403


def test_a_form_needs_an_origin_of_ours(guest: Visitor) -> None:
    address = f"/{TOKEN}/open"
    assert guest.client.post(address).status_code == 403
    assert guest.client.post(address, headers={"sec-fetch-site": "same-site"}).status_code == 403
    assert guest.client.post(address, headers=OWN).status_code == 422
    assert guest.client.post(address, headers={"sec-fetch-site": "same-origin"}).status_code == 422


def test_other_sites_cannot_load_our_scripts_but_may_link_here(guest: Visitor) -> None:
    foreign = {"sec-fetch-site": "cross-site"}
    address = f"/{TOKEN}/app.js"
    script = {**foreign, "sec-fetch-mode": "no-cors"}
    assert guest.client.get(address, headers=script).status_code == 403
    link = {**foreign, "sec-fetch-mode": "navigate"}
    assert guest.client.get(f"/{TOKEN}/", headers=link).status_code == 200


def test_sockets_are_closed_before_they_open(guest: Visitor) -> None:
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), guest.client.websocket_connect(f"/{TOKEN}/"):
        pass


@pytest.mark.parametrize("address", ["", "app.js", "nothing-here", "model?id=unknown"])
def test_every_answer_tells_the_browser_to_trust_nothing_else(guest: Visitor, address: str) -> None:
    headers = guest.get(address).headers
    policy = dict(
        rule.strip().split(" ", 1) for rule in headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self' 'unsafe-eval'"
    assert policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert "set-cookie" not in headers


def test_a_refusal_has_the_same_headers(guest: Visitor) -> None:
    assert guest.client.get("/").headers["x-content-type-options"] == "nosniff"
