-- platform-sync formula 4790
-- name: Total Created At
(SUM(`Orders`) - SUM(`Visits`)) / NULLIF(SUM(`Visits`), 0) * 100
