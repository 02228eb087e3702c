-- platform-sync formula 4773
-- name: Gross Profit OLD
MAX(MAX(`Conversion Rate`) FIXED (REMOVE `SKU`))
