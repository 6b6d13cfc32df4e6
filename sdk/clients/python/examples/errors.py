import switchboard

sb = switchboard.Switchboard()
try:
    sb.calendars.get("cal_00000000000000000000000000")
except switchboard.NotFoundError as error:
    print(error.code, error.message, error.request_id)
except switchboard.RateLimitError as error:
    print("wait", error.retry_after_ms, "ms")
except switchboard.ApiError as error:
    print(error.status, error.code, error.param, error.details)
except switchboard.SwitchboardError as error:
    print("no answer:", error)
