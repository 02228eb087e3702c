-- platform-sync formula 2045
-- name: Σ Cost OLD
STDDEV_POP(`Net Price`) / AVG(`Umsatz (€)`)
