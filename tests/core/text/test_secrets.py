"""What looks like a credential, and what only speaks of one."""

from __future__ import annotations

import pytest

from core.text.secret_values import entropy
from core.text.secrets import looks_secret

# None of these is in use anywhere: they have the shape of a credential and nothing behind it. The parts are joined
# here so that scanners of source code do not take them for real ones.
SECRETS = (
    "-----BEGIN" + " RSA PRIVATE KEY-----",
    "-----BEGIN " + "OPENSSH PRIVATE KEY-----",
    "token ghp_16C7e" + "42F292c6912E7710c838347Ae178B4a",
    "sk-proj-abc1" + "23DEF456ghi789JKL012mno345",
    "sk-ant-api" + "03-abcDEF123_456-ghi",
    "AKIAIO" + "SFODNN7EXAMPLA",
    "aws_secret_access_ke" + "y = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzKEY1",
    "postgres://app" + ":s3cr3tpw@db.internal:5432/app",
    "https://deploy:" + "hunter22@git.example.test/x.git",
    "redis://:" + "p4ssw0rdX@cache:6379",
    "passwor" + "d: Tr0ub4dor&3",
    "db passwo" + 'rd = "kX9!vQ2#mZ7p"',
    "api_key=9f86d" + "081884c7d659a2feaa0c55ad015",
    "API key: 3fa85f" + "64-5717-4562-b3fc-2c963f66afa6",
    "client_secret" + ": 8Q~abcDEFghi123JKLmno456",
    "Authorization: " + "Bearer abcDEF123456ghiJKL789mno",
    "eyJhbGciOiJIUzI1Ni" + "J9.eyJzdWIiOiIxMjM0In0.abcdefghijk_123",
    "xoxb-12345" + "6789012-abcdefGHIJKL",
    "AIzaSyA123456" + "7890abcdefghijklmnopqrstuv",
    "glpat-ab" + "cdefghij1234567890",
    "npm_abcdefghi" + "jklmnopqrstuvwxyz0123456789",
    "hf_abcdefgh" + "ijklmnopqrstuvwxyz012345",
    "SG.abcdefghij" + "klmnopqr.stuvwxyz0123456789",
    "user:wifi p" + "assword: Blau3Katze!77",
    "secret=Zm9" + "vYmFyMTIzNDU2Nzg5MA==",
    "STRIPE sk_liv" + "e_4eC39HqLyjWDarjtT1zdp7dc",
    "DB_PASS" + "WORD=pg7Wq2LmX9",
    "passphrase:" + " v3ry-L0ng_P4ssphrase!",
    "PASSWO" + "RD=hunter2",
    "passwo" + "rd: hunter2",
    "export DB_PASSWO" + 'RD="s3cret"',
    "PGPASSWO" + "RD=abc123",
    "PASS" + "WD = letmein!1",
    "API_K" + "EY=abc123xyz",
    "access_tok" + "en := q1w2e3",
    "secr" + "et => pa$$word",
    '{"passwo' + 'rd": "hunter2"}',
    "passwo" + "rd for wifi: hunter2",
    "Authorization: " + "Basic dXNlcjpwYXNz",
    "curl -H 'authorization: " + "basic YWRtaW46aHVudGVyMg=='",
    "Authorization: " + "Bearer 9f8Kd72LmQ",
    "Authorization: " + "Token 9944b09199c62bcf9418",
    "пар" + "оль: hunter2",
    "пар" + "оль от wifi: кот12345",
    "contra" + "seña: gato2024",
    "contrasen\u0303" + "a=gato2024",
    "mot de " + "passe : chat2024",
    "Pass" + "wort: Katze99",
    "Pass" + "wort für wlan: Katze99",
    "密" + "码: mao2024",
    "我的密" + "码：mao2024",
    "パスワ" + "ード：neko2024",
    "비밀" + "번호: goyangi77",
)
HARMLESS = (
    "password",
    "the password is stored in 1Password",
    "user:password manager: Bitwarden 2024.1",
    "commit 3f2a9c1b7d5e4f60718293a4b5c6d7e8f9012345",
    "token hash: 3f2a9c1b7d5e4f60718293a4b5c6d7e8f9012345",
    "commit token 3f2a9c1",
    "max_tokens: 4096",
    "max tokens 128000",
    "JWT token format: Tokens use RS256 signing. Public key is at src/auth/keys/public.pem.",
    "secret: vault/kv2/prod/db",
    "secret path secret/data/app1/config",
    "API_KEY_FILE=/run/secrets/api1key",
    "password: ${DB_PASSWORD}",
    "password=<your-password>",
    "postgres://user:password@localhost:5432/db",
    "postgres://app:${PW}@db/app",
    "postgres://user:***@host/db",
    "https://example.test:8080/path@x",
    "token: refresh_token",
    "token bucket rate limiting uses 10req/s",
    "the access key rotates every 90days",
    "session token expires in 15minutes",
    "secret santa is on 2026-12-05",
    "sk-learn pipeline with sk-estimators",
    "use the passphrase from the keyring",
    "password policy: minimum12characters",
    "primary key is user_id",
    "private key location ~/.ssh/id_ed25519",
    "private key: ~/.ssh/id_ed25519",
    "token endpoint: https://auth.example.test/oauth2/token",
    "api key rotation: 2026-Q3",
    "secretsmanager arn:aws:secretsmanager:eu-west-1",
    "pass through to the handler2",
    "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "session id 3fa85f64-5717-4562-b3fc-2c963f66afa6",
    "git checkout 9f86d08",
    "token kubernetes-service-account-token-v2",
    "bearer authentication (RFC6750)",
    "password hashing uses argon2id",
    "password hash: argon2id$v=19",
    "credential helper osxkeychain2",
    "pass rate 99.5%",
    "deploy key is called ci-deploy-2026",
    "tokens: [a-z0-9/_:-]{2,}",
    "secret name: prod-db-password-v2",
    "auth token header X-Auth-Token2",
    "passwordless login via WebAuthn2",
    "password: see vault",
    "token: RS256 signed",
    "the word password alone",
    "password=$DB_PASSWORD",
    "password: <ask Priya>",
    "${PASSWORD}",
    "password=${PASSWORD:-none}",
    "password_min_length=12",
    "password: bcrypt(user.password)",
    "token = get_token2(user)",
    "password: 1Password",
    "password: forgotten!",
    "password: ask dba2@example.test",
    "password: dba2@example.test",
    "token: OAuth2",
    "auth token: RS256-signed JWT",
    "token: argon2id",
    "session_token: 15minutes",
    "secret: sha256",
    "token=9f86d08",
    "id of the request: 3fa85f64-5717-4562-b3fc-2c963f66afa6",
    "private key: id_ed25519",
    "DB_PASSWORD: !vault |",
    "secret=config2.yaml",
    "PASSWORD_FILE=/run/secrets/db1",
    "password: /run/secrets/db1",
    "password file: secrets2.txt",
    "token: refresh_token2",
    "password = None",
    "password: string",
    "api_key: os.environ['API_KEY1']",
    "password: process.env.DB_PASS1",
    "password: ********",
    "password: {{ vault_pw1 }}",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN123",
    "Authorization: Bearer access_token",
    "Authorization: Basic authentication",
    "Authorization: Basic <base64>",
    "пароль: спроси у Прии",
    "пароль хранится в Bitwarden2",
    "contraseña: pregunta a Priya",
    "mot de passe : voir le coffre",
    "Passwort: siehe Tresor",
    "密码在保险箱里",
    "パスワードは金庫にあります",
    "密码：问老板",
)


@pytest.mark.parametrize("text", SECRETS)
def test_credentials_are_found(text: str) -> None:
    assert looks_secret(text)
    assert looks_secret(f"some words\nbefore: {text}\nand after")


@pytest.mark.parametrize("text", HARMLESS)
def test_hashes_paths_names_and_the_words_alone_are_no_secrets(text: str) -> None:
    assert looks_secret(text) is None


def test_entropy_is_in_bits_a_character() -> None:
    assert entropy("") == 0
    assert entropy("aaaa") == 0
    assert entropy("abcd") == 2


@pytest.mark.slow
def test_a_long_text_takes_no_long_time() -> None:
    for text in (
        "password " * 20_000,
        "a" * 500_000,
        "token=" + "a1" * 100_000,
        "password for a " * 20_000,
        "://" + "a:" * 100_000,
    ):
        looks_secret(text)
