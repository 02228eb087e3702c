-- platform-sync formula 6569
-- name: Distinct Updated At ·
(SUM(`Orders`) - SUM(`Weight kg`)) / NULLIF(SUM(`Conversion Rate`), 0) * 100
