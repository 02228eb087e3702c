-- platform-sync formula 4646
-- name: Tier\Band - DO NOT USE
SUM(SUM(`売上`) FIXED (BY `Store #`))
