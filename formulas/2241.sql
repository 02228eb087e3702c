-- platform-sync formula 2241
-- name: Avg Ship Date
STDDEV_POP(`Latitude`) / AVG(`Umsatz (€)`)
