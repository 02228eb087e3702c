-- platform-sync formula 4146
-- name: Conversion Rate YoY %
SUM(`Orders`) / SUM(SUM(`Budget`) FIXED ())
