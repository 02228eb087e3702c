-- platform-sync formula 5575
-- name: YoY Growth - DO NOT USE
DATE_ADD(`Due Date`, INTERVAL 3 MONTH)
