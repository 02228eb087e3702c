-- platform-sync formula 4093
-- name: Updated At YoY % - DO NOT USE
DATE_ADD(`Closed At`, INTERVAL 3 MONTH)
