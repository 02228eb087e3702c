-- platform-sync formula 5184
-- name: Tier\Band (copy)
CASE WHEN DateDiff(Current_Date(), `Due Date`) <= 30 AND `Due Date` < AddDate(Current_Date(), 1) THEN 1 ELSE 0 END
