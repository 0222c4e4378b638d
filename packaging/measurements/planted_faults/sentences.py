"""Sentences of the measurement. The tuning set and the test set have no sentence in common."""

from __future__ import annotations

TUNING = tuple(
    """
The gardener watered seven thirsty tomato plants.
A yellow ferry crosses the harbor every morning.
My grandmother baked bread in a stone oven.
Nobody remembered where the silver key was hidden.
Heavy snow closed the mountain road on Friday.
He painted the kitchen door a bright green.
Two foxes ran quickly across the frozen field.
The library opens at half past eight.
Our neighbor plays the trumpet badly but loudly.
She wrote a long letter to her cousin, and then she burned it.
The old clock stopped just before midnight.
I would rather walk than wait for a bus, if you do not mind.
An honest answer is often the shortest one.
They planted an apple tree behind the school.
Could you lend me a pencil and some paper?
A small brown dog slept under the table, next to the stove.
The farmer sold his horse for a fair price.
The children built a castle out of wet sand.
Never leave a hammer on top of a ladder.
The moon looked enormous above the quiet valley.
The waiter forgot our order and apologized twice.
A heavy truck blocked the entrance to the tunnel.
Her sister studies chemistry at a famous university.
We saw the fire from the top of the tower.
In the spring they will sell the house and move to the coast.
The mayor opened the market with a short speech.
He lost his gloves somewhere between the church and the inn.
Please wash the dishes before you go to bed.
The tall woman in the red dress is my aunt.
Few people know that the castle was once a prison.
At noon the workers sat down in the shade of a wall.
I think the answer was hidden in the second paragraph.
The nurse checked his pulse and smiled at him.
Rain fell on the roof all night, so the cellar was wet.
Each of the boys carried a bag of flour up the hill.
The director said that the film would be ready by autumn.
Turn left at the bank, and then walk to the corner.
It was too dark to read the name on the gate.
A gust of wind blew his hat over the fence.
There is a hole in the bottom of the bucket.
""".strip().splitlines()
)

TUNING_SPECIAL = tuple(
    """
Yes.
No, thanks.
Who is there?
"Come in," said Margaret, "and shut the door."
Dr. Thompson arrived on March 3rd, 1987.
It costs $45.50, plus 12 percent.
Call Michael or Jennifer before 7:30.
He whispered: "Not now!"
Nathaniel Hawthorne lived in Salem.
Room 214 is on the second floor.
Stop!
Good morning, Mrs. Robinson.
Maybe.
Why not?
Of course.
Come here.
I do not know.
How are you?
"It is over," answered Gregory.
"Wait for me," she called, "I am almost there."
He asked: "Is it true?"
Benjamin Franklin lived in Philadelphia.
Captain Susan Mitchell flew to Denver.
Rachel, Peter and Isabella stayed behind.
The war ended in 1945.
The box holds 48 bottles.
It was 4 degrees at 6:15.
He owes me $120.
Almost 35% of the pupils were ill.
Mr. Sullivan was born on May 21st, 1932.
""".strip().splitlines()
)

MEASURING = tuple(
    """
The captain folded the map and looked toward the shore.
Our train was delayed because of fallen leaves.
She kept every ticket from the journey in a tin box.
The baker closed his shop early on the last day of summer.
Someone had left a lantern burning in the cellar.
We followed the narrow path until the river turned south.
The judge listened carefully and asked only one question.
Bring a warm coat, because the nights are cold there.
The painter mixed a darker blue for the evening sky.
His brother repaired bicycles in a workshop near the station.
The teacher collected the papers and opened the window.
They found an empty boat drifting near the lighthouse.
After dinner the guests moved to the garden.
The winter was long, but the village had enough wood.
Every morning he counted the ships in the bay.
The letter was written in pencil on yellow paper.
You should speak with the manager before you decide.
A stranger asked the way to the museum.
The music stopped, and everyone turned around.
My uncle once crossed the desert on a camel.
The bridge was closed after the heavy storm.
She carried the basket carefully down the stone steps.
The committee will announce its decision on Thursday.
Please put the heavy books on the bottom shelf.
The wind changed direction shortly before sunset.
Nothing in the report explained the missing money.
The pilot waited patiently for better weather.
He bought fresh bread and a bottle of milk.
Their house stands at the end of a quiet street.
The soldiers marched through the town without a word.
I have never seen so many birds in one tree.
The doctor washed his hands and put on clean gloves.
Under the bed she discovered a wooden chest.
The old king gave his crown to the youngest daughter.
If the bell rings twice, leave by the back door.
The cat jumped from the roof into the soft snow.
We could hear the distant thunder behind the hills.
The merchant weighed the silver and shook his head.
A thin line of smoke rose from the chimney.
The student borrowed a dictionary from the library.
""".strip().splitlines()
)

MEASURING_SPECIAL = tuple(
    """
Yes.
No.
Really?
Wait!
Thank you.
Good night.
Of course not.
What happened?
"I never said that," replied Catherine.
"Follow me," he said, "but be quiet."
She shouted: "Run!"
"Are you certain?" asked the inspector.
Elizabeth Bennett married Mr. Darcy.
Professor Alexander Hamilton teaches history.
William Shakespeare was born in Stratford.
Christopher met Samantha in Chicago.
Alice, Robert and Jonathan went home.
The parcel is for Victoria Anderson.
The year was 1865.
It weighs 32 kilograms.
Add 3 eggs and 250 grams of sugar.
The answer is 7, not 9.
She paid $18.75 for the ticket.
The meeting starts at 10:45.
Chapter 12 begins on page 207.
About 60% of them agreed.
On June 5th, we sail for Boston.
Flight 83 leaves from gate 4.
Dr. Wilson lives at 21 Baker Street.
Mr. Peterson, your taxi is here.
""".strip().splitlines()
)

# No take contains these sentences, so words of a prompt cannot be mistaken for words of a take.
PROMPTS = (
    "The fire was warm, and the dog slept in front of it until morning.",
    "A long road leads from the market to the old mill by the water.",
    "We waited under the bridge while the rain fell on the empty square.",
)
TUNING_PROMPTS = (
    "Three ships left the port at dawn, and only two of them came back.",
    "My father keeps his tools in a green shed at the back of the yard.",
    "The road was muddy, so we took off our shoes and carried them home.",
)
