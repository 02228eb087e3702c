-- platform-sync formula 3127
-- name: Impressions – label test
POWER(1 + `Conversion Rate` / NULLIF(`Umsatz (€)`, 0), 12) - 1
