-- platform-sync formula 1374
-- name: Umsatz (€) YTD
DATEDIFF(CURRENT_DATE(), `Closed At`)
