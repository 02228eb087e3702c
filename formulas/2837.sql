-- platform-sync formula 2837
-- name: Fiscal Quarter test
`Clicks` * (1 + `Budget` / 100)
