-- How many records were added, removed and changed each day, by place, in the last 90 days.
SELECT dt, place, change, count(*) AS records
FROM changes
WHERE dt >= CAST(CAST(current_date - INTERVAL '90' DAY AS date) AS varchar)
GROUP BY dt, place, change
ORDER BY dt DESC, place, change
