-- platform-sync formula 7613
-- name: Σ Revenue test
STDDEV_POP(`Budget`) / AVG(`Visits`)
