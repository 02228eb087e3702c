-- platform-sync formula 4563
-- name: Impressions YoY %
(SUM(`Net Price`) - SUM(`Cost`)) / NULLIF(SUM(`Net Price`), 0) * 100
