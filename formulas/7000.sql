-- platform-sync formula 7000
-- name: 🔥 Hot leads
`Impressions` * (1 + `Umsatz (€)` / 100)
