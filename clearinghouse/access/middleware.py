from typing import Any


class Pass:
    def __init__(self, get_response: Any) -> None:
        self.get_response = get_response

    def __call__(self, request: Any) -> Any:
        return self.get_response(request)


ContentSecurity = SignInRequired = Acting = Pass
