-- What buyers answer to the questions of a product.

-- JSON object as the client wrote it, question id to answer; null where nothing was answered
alter table orders.order_lines add column answers text
    constraint order_lines_answers_check check (octet_length(answers) <= 16384);
