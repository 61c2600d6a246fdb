"""What the collector does with spans: it writes the process into each of them.

OTLP has `service.name` once for all spans of a process. Phoenix stores what a span has, and nothing else.
"""

from rotel_sdk.open_telemetry.common.v1 import KeyValue


def process_spans(of_process):
    attributes = of_process.resource.attributes
    name = next(attribute.value.value for attribute in attributes if attribute.key == "service.name")
    for scope in of_process.scope_spans:
        for span in scope.spans:
            span.attributes.append(KeyValue.new_string_value("service.name", name))
