-- platform-sync formula 8157
-- name: Rolling 12 "months" test
POWER(1 + `Impressions` / NULLIF(`Umsatz (€)`, 0), 12) - 1
